package dev.stasis.helm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Dashboards and alerts ask for metrics that the operator and the agents register in their code.
 */
class MetricNamesTest {

  private static final List<Path> CODE =
      List.of(Path.of("../operator/src/main/java"), Path.of("../node-agent/src/main/java"));

  /** A meter with its kind, its name and the rest of its builder. */
  private static final Pattern METER =
      Pattern.compile(
          "(?:(Gauge|MultiGauge|Counter|Timer|DistributionSummary)\\.builder|\\.(counter)|\\b(timer|gauge|NamespaceGauge<>))"
              + "\\(\\s*\"(stasis[._][a-z._]+)\"([^;]*)");

  private static final Pattern UNIT = Pattern.compile("\\.baseUnit\\(\"([a-z]+)\"\\)");

  private static final Pattern METRIC = Pattern.compile("\\bstasis_[a-z_]+");

  @Test
  void dashboardsAndAlertsAskForMetricsThatTheCodeRegisters() throws IOException {
    Set<String> registered = registered();
    assertThat(registered).as("meters found in the code").hasSizeGreaterThan(10);

    for (Path file : files()) {
      assertThat(METRIC.matcher(Files.readString(file)).results())
          .extracting(found -> found.group().replaceFirst("_(bucket|count|sum)$", ""))
          .as(file.toString())
          .isSubsetOf(registered);
    }
  }

  private static List<Path> files() throws IOException {
    Path chart = ChartFilesTest.CHART.resolve("files");
    try (Stream<Path> dashboards = Files.list(chart.resolve("dashboards"))) {
      return Stream.concat(dashboards, Stream.of(chart.resolve("alerts.yaml"))).toList();
    }
  }

  private static Set<String> registered() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path folder : CODE) {
      try (Stream<Path> sources = Files.walk(folder)) {
        for (Path source : sources.filter(it -> it.toString().endsWith(".java")).toList()) {
          METER
              .matcher(Files.readString(source))
              .results()
              .map(MetricNamesTest::name)
              .forEach(names::add);
        }
      }
    }
    return names;
  }

  /** The name that Prometheus shows, by the naming convention of Micrometer. */
  private static String name(MatchResult meter) {
    String kind =
        Stream.of(1, 2, 3).map(meter::group).filter(it -> it != null).collect(Collectors.joining());
    String name = meter.group(4).replace('.', '_');
    return switch (kind) {
      case "Counter", "counter" -> name + "_total";
      case "Timer", "timer" -> name + "_seconds";
      default ->
          UNIT.matcher(meter.group(5))
              .results()
              .map(it -> name + "_" + it.group(1))
              .findFirst()
              .orElse(name);
    };
  }
}
