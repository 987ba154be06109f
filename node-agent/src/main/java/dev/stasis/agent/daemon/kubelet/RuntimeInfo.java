package dev.stasis.agent.daemon.kubelet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a runtime adds to a container's status when it is asked to be verbose. Not part of the
 * interface, but containerd and CRI-O name these things alike, and nothing else tells a pid.
 *
 * @param pid of the first process; 0 when it does not say
 * @param argv of the runtime's spec
 * @param cwd of the runtime's spec
 * @param env of the runtime's spec
 * @param image as the pod asked for it; empty when it does not say
 */
record RuntimeInfo(int pid, List<String> argv, String cwd, List<String> env, String image) {

  private static final ObjectMapper JSON = new ObjectMapper();

  static RuntimeInfo parse(Map<String, String> info) throws NodeApiException {
    JsonNode node;
    try {
      node = JSON.readTree(info.getOrDefault("info", "{}"));
    } catch (JsonProcessingException e) {
      throw new NodeApiException(
          "ContainerStatus: wanted JSON in info, found " + e.getMessage(), e);
    }
    JsonNode process = node.path("runtimeSpec").path("process");
    JsonNode image = node.path("config").path("image");
    return new RuntimeInfo(
        node.path("pid").asInt(0),
        strings(process.path("args")),
        process.path("cwd").asText("/"),
        strings(process.path("env")),
        image.path("user_specified_image").asText(""));
  }

  private static List<String> strings(JsonNode array) {
    List<String> strings = new ArrayList<>();
    array.forEach(one -> strings.add(one.asText()));
    return strings;
  }
}
