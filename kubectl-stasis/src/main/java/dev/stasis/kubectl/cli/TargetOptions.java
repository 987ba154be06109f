package dev.stasis.kubectl.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the target of a pod. */
final class TargetOptions {

  @Option(names = "--to", paramLabel = "NODE", description = "node; default: any compatible node")
  @Nullable String node;

  @Option(
      names = "--node-selector",
      paramLabel = "KEY=VALUE",
      split = ",",
      description = "labels that the node must have")
  Map<String, String> selector = new LinkedHashMap<>();

  @Option(
      names = "--pod-name",
      paramLabel = "NAME",
      description = "name of the pod; default: the old name if it is unused")
  @Nullable String podName;

  void write(ObjectNode spec) {
    ObjectNode target = spec.objectNode();
    if (node != null) {
      target.put("nodeName", node);
    }
    if (!selector.isEmpty()) {
      ObjectNode labels = target.putObject("nodeSelector");
      selector.forEach(labels::put);
    }
    if (podName != null) {
      target.put("podName", podName);
    }
    if (!target.isEmpty()) {
      spec.set("target", target);
    }
  }
}
