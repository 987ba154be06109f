package dev.stasis.operator.cli;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Arguments of the smoke test, set by the chart.
 *
 * @param namespace the pod's namespace
 * @param name name of the pod and of the requests
 * @param serviceAccount service account of the pod, with its image pull secrets
 * @param image image with the program; that of the agent
 * @param pullPolicy of the image
 * @param gpuResource resource that requests a GPU
 * @param runtimeClass RuntimeClass that provides the driver's libraries; empty for the node's
 *     default
 * @param atMost time limit of the whole test
 */
record SmokeTestSettings(
    String namespace,
    String name,
    String serviceAccount,
    String image,
    String pullPolicy,
    String gpuResource,
    String runtimeClass,
    Duration atMost) {

  /**
   * Parses {@code --name=value} arguments.
   *
   * @throws IllegalArgumentException if one is missing, with a message
   */
  static SmokeTestSettings of(String... arguments) {
    Map<String, String> given = new LinkedHashMap<>();
    Arrays.stream(arguments)
        .filter(one -> one.startsWith("--") && one.indexOf('=') > 0)
        .forEach(
            one ->
                given.put(
                    one.substring("--".length(), one.indexOf('=')),
                    one.substring(one.indexOf('=') + 1)));
    return new SmokeTestSettings(
        required(given, "namespace"),
        required(given, "name"),
        given.getOrDefault("service-account", "default"),
        required(given, "image"),
        given.getOrDefault("pull-policy", "IfNotPresent"),
        given.getOrDefault("gpu-resource", "nvidia.com/gpu"),
        given.getOrDefault("runtime-class", ""),
        Duration.ofSeconds(Long.parseLong(given.getOrDefault("timeout", "240"))));
  }

  private static String required(Map<String, String> given, String name) {
    String value = given.getOrDefault(name, "");
    if (value.isEmpty()) {
      throw new IllegalArgumentException("--" + name + ": expected a value, got none");
    }
    return value;
  }
}
