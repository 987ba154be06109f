package dev.stasis.operator.cli;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a trial is told by the chart.
 *
 * @param namespace where the pod is made
 * @param name of the pod and of the requests
 * @param serviceAccount of the pod: with the secrets by which its image is pulled
 * @param image with the program; that of the agent
 * @param pullPolicy of the image
 * @param gpuResource one of which makes a GPU
 * @param runtimeClass by which containers get the driver's libraries; empty for the node's default
 * @param atMost how long all of it may take
 */
record TrialSettings(
    String namespace,
    String name,
    String serviceAccount,
    String image,
    String pullPolicy,
    String gpuResource,
    String runtimeClass,
    Duration atMost) {

  /**
   * From {@code --name=value} each.
   *
   * @throws IllegalArgumentException when one is missing, with a sentence
   */
  static TrialSettings of(String... arguments) {
    Map<String, String> given = new LinkedHashMap<>();
    Arrays.stream(arguments)
        .filter(one -> one.startsWith("--") && one.indexOf('=') > 0)
        .forEach(
            one ->
                given.put(
                    one.substring("--".length(), one.indexOf('=')),
                    one.substring(one.indexOf('=') + 1)));
    return new TrialSettings(
        wanted(given, "namespace"),
        wanted(given, "name"),
        given.getOrDefault("service-account", "default"),
        wanted(given, "image"),
        given.getOrDefault("pull-policy", "IfNotPresent"),
        given.getOrDefault("gpu-resource", "nvidia.com/gpu"),
        given.getOrDefault("runtime-class", ""),
        Duration.ofSeconds(Long.parseLong(given.getOrDefault("timeout", "240"))));
  }

  private static String wanted(Map<String, String> given, String name) {
    String value = given.getOrDefault(name, "");
    if (value.isEmpty()) {
      throw new IllegalArgumentException("--" + name + ": wanted a value, found none");
    }
    return value;
  }
}
