package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.helm.Chart;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** Which alerts of the chart fire in which scenario, as a Prometheus beside the scenarios sees. */
final class AlertRecord implements AutoCloseable {

  /** A scrape of the API server, and an evaluation. */
  private static final Duration LATE = Duration.ofSeconds(7);

  /** Runs of a schedule begin each minute; an agent is silent for three. */
  private static final Duration SITUATION = Duration.ofMinutes(5);

  /** More than the longest time that an alert waits. */
  private static final Duration LONGEST = Duration.ofMinutes(40);

  private static final Pattern MINUTES = Pattern.compile("\\b([0-9]+)m\\b");

  private static final Pattern SECONDS = Pattern.compile("> ([0-9]{3,})\\b");

  /**
   * A situation that was made.
   *
   * @param after time until the alert fired
   */
  record Situation(String scenario, Duration after) {}

  private record Span(String scenario, Instant from, Instant to) {}

  private final int faster;
  private final List<String> alerts = new ArrayList<>();
  private final Prometheus prometheus;
  private final List<Span> spans = new ArrayList<>();
  private final Map<String, Instant> begun = new HashMap<>();
  private final Map<String, Situation> situations = new LinkedHashMap<>();
  private String scenario = "";
  private Instant began = Instant.EPOCH;

  private AlertRecord(
      KubernetesClient admin, Checkout checkout, String program, Path targets, int faster)
      throws IOException {
    this.faster = faster;
    JsonNode rules = rules(admin, checkout);
    for (JsonNode rule : rules.path("groups").findValue("rules")) {
      alerts.add(rule.path("alert").asText());
      for (String field : List.of("expr", "for")) {
        if (rule.has(field)) {
          ((ObjectNode) rule).put(field, faster(rule.path(field).asText(), faster));
        }
      }
    }
    prometheus = new Prometheus(program, targets, rules, admin.getConfiguration());
  }

  /** Starts one with what bin/e2e --alerts has set. */
  static AlertRecord start(KubernetesClient admin, Checkout checkout) {
    String program = Present.in("STASIS_E2E_PROMETHEUS", System.getenv("STASIS_E2E_PROMETHEUS"));
    String targets = Present.in("STASIS_E2E_TARGETS", System.getenv("STASIS_E2E_TARGETS"));
    String faster = Optional.ofNullable(System.getenv("STASIS_E2E_ALERTS_FASTER")).orElse("30");
    try {
      return new AlertRecord(admin, checkout, program, Path.of(targets), Integer.parseInt(faster));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As the chart renders them. */
  private static JsonNode rules(KubernetesClient admin, Checkout checkout) {
    String yaml =
        new Chart(checkout.root().resolve("helm/stasis"))
            .render(
                "stasis",
                LocalInstallation.NAMESPACE,
                Map.of("image.registry", "stasis.dev", "metrics.prometheusRule.enabled", "true"),
                List.of());
    return admin
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .items()
        .stream()
        .filter(object -> object.getKind().equals("PrometheusRule"))
        .map(
            object ->
                new ObjectMapper()
                    .<JsonNode>valueToTree(
                        ((GenericKubernetesResource) object).getAdditionalProperties().get("spec")))
        .findFirst()
        .orElseThrow();
  }

  /** With all times of the rule divided, so that a scenario takes minutes. */
  static String faster(String rule, int by) {
    String windows =
        MINUTES.matcher(rule).replaceAll(found -> Integer.parseInt(found.group(1)) * 60 / by + "s");
    return SECONDS
        .matcher(windows)
        .replaceAll(found -> "> " + Integer.parseInt(found.group(1)) / by);
  }

  void beginScenario(String title) {
    scenario = title;
    began = Instant.now();
  }

  void endScenario() {
    spans.add(new Span(scenario, began, Instant.now()));
  }

  /** The situation of an alert begins now. */
  void begins(String alert) {
    assertThat(fires(alert)).as(alert + " fires before its situation").isFalse();
    begun.put(alert, Instant.now());
  }

  /** Waits until the alert fires. */
  void awaitFiring(String alert) {
    Awaitility.await(alert + " fires")
        .atMost(SITUATION.plus(LONGEST.dividedBy(faster)))
        .pollInterval(Duration.ofSeconds(1))
        .until(() -> fires(alert));
    Instant since = Present.in("the beginning of the situation", begun.get(alert));
    Duration after = Duration.between(since, Instant.now());
    situations.put(alert, new Situation(scenario, after));
    System.out.println("%s fires %d s after its situation".formatted(alert, after.toSeconds()));
  }

  /** Waits until the alert does not fire any more. */
  void awaitEnd(String alert) {
    Awaitility.await(alert + " ends")
        .atMost(SITUATION.plus(LONGEST.dividedBy(faster)))
        .pollInterval(Duration.ofSeconds(1))
        .until(() -> !fires(alert));
  }

  private boolean fires(String alert) {
    return prometheus
            .query("ALERTS{alertname=\"%s\",alertstate=\"firing\"}".formatted(alert))
            .size()
        > 0;
  }

  int faster() {
    return faster;
  }

  /** Returns the alerts of the chart. */
  List<String> alerts() {
    return alerts;
  }

  /** Returns the situations that scenarios have made, by alert. */
  Map<String, Situation> situations() {
    return situations;
  }

  /** Returns the scenarios that have ended, in order. */
  Set<String> scenarios() {
    Set<String> titles = new LinkedHashSet<>();
    spans.forEach(span -> titles.add(span.scenario()));
    return titles;
  }

  /**
   * Returns the longest time in seconds that each alert was in a state in each scenario, by
   * scenario.
   *
   * @param state {@code firing}: only of alerts that began to fire in the scenario; or {@code
   *     pending}
   * @param makes whether an alert, the first, is expected in a scenario, the second
   */
  Map<String, Map<String, Integer>> seen(String state, BiPredicate<String, String> makes) {
    Map<String, Map<String, Integer>> seen = new LinkedHashMap<>();
    for (int i = 0; i < spans.size(); i++) {
      Span span = spans.get(i);
      String next = i + 1 < spans.size() ? spans.get(i + 1).scenario() : "";
      Instant from = span.from().plus(LATE);
      for (JsonNode series :
          prometheus.query(
              "ALERTS{alertstate=\"%s\"}".formatted(state), from, span.to().plus(LATE))) {
        JsonNode values = series.path("values");
        String alert = series.path("metric").path("alertname").asText();
        long first = values.path(0).path(0).asLong();
        boolean isOfBefore = first <= from.getEpochSecond();
        // What the next scenario makes at once is seen while the former one may still show.
        Instant made = begun.get(alert);
        boolean isOfNext =
            (made != null && !made.isBefore(span.to()) && first >= made.getEpochSecond())
                || (first >= span.to().getEpochSecond() && makes.test(alert, next));
        if (!isOfBefore && !isOfNext) {
          seen.computeIfAbsent(span.scenario(), key -> new LinkedHashMap<>())
              .merge(alert, values.size(), Math::max);
        }
      }
    }
    return seen;
  }

  @Override
  public void close() {
    prometheus.close();
  }
}
