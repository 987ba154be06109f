package dev.stasis.operator.metric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.node.NodeMetricsTest;
import dev.stasis.operator.schedule.ScheduleMetricsTest;
import dev.stasis.operator.store.StoreMetricsTest;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Prometheus reads from an operator, and what the chart asks it for. */
class PublishedMetricsTest {

  private static final Path CHART = Path.of("../helm/stasis/files");
  private static final Path ALERT_TESTS = Path.of("../helm/src/test/alerts/alerts.test.yaml");

  private static final Pattern METRIC = Pattern.compile("\\bstasis_[a-z_]+");

  /** A name and its labels. */
  private static final Pattern SERIES = Pattern.compile("\\b(stasis_[a-z_]+)(?:\\{([^}]*)})?");

  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");

  /** Published by the agents; the chart's tests compare them to the code. */
  private static final Set<String> OF_AGENTS =
      Set.of(
          "stasis_left_frozen_pods",
          "stasis_operation_step_duration_seconds_bucket",
          "stasis_operation_step_duration_seconds_count",
          "stasis_operation_step_duration_seconds_sum");

  private static String scrape() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    StasisMetrics metrics = new StasisMetrics(registry);
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(new ObjectMetaBuilder().withNamespace("ml").build());
    metrics.ended(checkpoint, "Ready", "ArtifactVerified");
    metrics.preempted("ml", 1, Duration.ofSeconds(1));
    new ReplicaMetrics(new Leadership(), registry, "1").bind(new io.quarkus.runtime.StartupEvent());
    NodeMetricsTest.publish(registry);
    StoreMetricsTest.publish(registry);
    ScheduleMetricsTest.publish(registry);
    WaitingMetricsTest.publish(registry);
    DamageMetricsTest.publish(registry);
    return registry.scrape();
  }

  @Test
  void everythingThatTheChartAsksForIsPublished() throws IOException {
    Set<String> asked = METRIC.matcher(chart()).results().map(it -> it.group()).collect(set());
    asked.removeAll(OF_AGENTS);

    assertThat(asked)
        .hasSizeGreaterThan(15)
        .isSubsetOf(METRIC.matcher(scrape()).results().map(it -> it.group()).collect(set()));
  }

  @Test
  void theAlertsAreTestedOnSeriesAsTheyArePublished() throws IOException {
    Set<String> tested =
        Files.readAllLines(ALERT_TESTS).stream()
            .filter(line -> line.contains("series:"))
            .flatMap(PublishedMetricsTest::series)
            .filter(series -> OF_AGENTS.stream().noneMatch(series::startsWith))
            .collect(set());

    assertThat(tested)
        .hasSizeGreaterThan(10)
        .isSubsetOf(scrape().lines().flatMap(PublishedMetricsTest::series).collect(set()));
  }

  /** An alert on an increase sees the first event only when the counter was zero before. */
  @Test
  void countersOfLossesStartAtZero() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new StasisMetrics(registry);

    assertThat(registry.scrape().lines())
        .contains("stasis_workloads_lost_total 0.0", "stasis_cold_starts_total 0.0");
  }

  /** The path of a request is one of their labels, and contains the name of a pod or an object. */
  @ParameterizedTest
  @ValueSource(strings = {"operator", "node-agent"})
  void requestsToTheApiServerHaveNoMetrics(String module) throws IOException {
    assertThat(
            Files.readAllLines(Path.of("..", module, "src/main/resources/application.properties")))
        .contains("quarkus.micrometer.binder.http-client.enabled=false");
  }

  private static Stream<String> series(String line) {
    return SERIES
        .matcher(line)
        .results()
        .limit(1)
        .map(
            found ->
                found.group(1)
                    + LABEL
                        .matcher(found.group(2) == null ? "" : found.group(2))
                        .results()
                        .map(label -> label.group(1))
                        .filter(label -> !label.equals("pod"))
                        .sorted()
                        .toList());
  }

  private static java.util.stream.Collector<String, ?, Set<String>> set() {
    return Collectors.toCollection(TreeSet::new);
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
}
