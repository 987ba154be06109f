package dev.stasis.operator.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheus.PrometheusConfig;
import io.micrometer.prometheus.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The names under which Prometheus sees what the operator counts. */
class PublishedMetricsTest {

  private static final Path CHART = Path.of("../helm/stasis/files");

  private static final Pattern METRIC = Pattern.compile("\\bstasis_[a-z_]+");

  /** Gauges of the operator and the agents; the chart's tests compare them to the code. */
  private static final Set<String> GAUGES =
      Set.of(
          "stasis_frozen_pods",
          "stasis_oldest_frozen_seconds",
          "stasis_left_frozen_pods",
          "stasis_gpu_quarantined",
          "stasis_store_bytes",
          "stasis_store_free_bytes");

  @Test
  void everyCounterAndTimerThatTheChartAsksForIsPublished() throws IOException {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    StasisMetrics metrics = new StasisMetrics(registry);
    metrics.ended("GpuCheckpoint", "Ready", "ArtifactVerified");
    metrics.step("Checkpoint", "lock", "mover", Duration.ofSeconds(1));
    metrics.frozen(Duration.ofSeconds(1));
    metrics.downtime(Duration.ofSeconds(1));
    metrics.proven(Duration.ofSeconds(1));
    metrics.coldStart();
    metrics.workloadLost();
    metrics.preempted("ml", 1, Duration.ofSeconds(1));

    Set<String> asked = names(chart());
    asked.removeAll(GAUGES);

    assertThat(asked).hasSizeGreaterThan(5).isSubsetOf(names(registry.scrape()));
  }

  private static String chart() throws IOException {
    StringBuilder all = new StringBuilder(Files.readString(CHART.resolve("alerts.yaml")));
    try (Stream<Path> dashboards = Files.list(CHART.resolve("dashboards"))) {
      for (Path dashboard : dashboards.toList()) {
        all.append(Files.readString(dashboard));
      }
    }
    return all.toString();
  }

  private static Set<String> names(String text) {
    return METRIC
        .matcher(text)
        .results()
        .map(it -> it.group())
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
