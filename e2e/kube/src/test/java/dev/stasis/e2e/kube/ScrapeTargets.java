package dev.stasis.e2e.kube;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Names what has metrics for a Prometheus that runs beside the scenarios (file_sd), with the labels
 * that the chart's ServiceMonitor gives.
 *
 * @param file what is written; null: nobody asked
 */
record ScrapeTargets(@Nullable String file) {

  void write(LocalProcess operator, Map<String, LocalProcess> agents) throws IOException {
    if (file == null) {
      return;
    }
    Files.writeString(
        Path.of(file),
        Stream.concat(
                Stream.of(target(operator, "operator", "")),
                agents.entrySet().stream()
                    .map(agent -> target(agent.getValue(), "agent", agent.getKey())))
            .collect(Collectors.joining(",\n", "[", "]\n")));
  }

  private static String target(LocalProcess process, String component, String node) {
    return """
    {"targets": ["%s"], "labels": {"component": "%s", "kubernetes_node": "%s"}}\
    """
        .formatted(process.address(), component, node);
  }
}
