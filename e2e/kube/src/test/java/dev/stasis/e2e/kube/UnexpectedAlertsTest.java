package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** No alert fires in a scenario that does not make its situation. It runs after all others. */
@ExtendWith(OnACluster.class)
@Order(OnACluster.LAST)
@Tag("long")
@Tag(OnACluster.ALERTS)
class UnexpectedAlertsTest {

  /** A driver that restores nothing leaves a workload frozen, and its GPU is not used. */
  private static final List<String> NOT_THAWED =
      List.of(
          "AlertsTest.notThawed",
          "AlertsTest.frozenTooLong",
          "AlertsTest.gpuQuarantined",
          "LeftFrozenTest.");

  /** Beginnings of the titles of scenarios that make the situation of an alert, too. */
  private static final Map<String, List<String>> ALSO =
      Map.of(
          "NotThawed",
          NOT_THAWED,
          "GpuQuarantined",
          NOT_THAWED,
          // Divided by 30, half an hour is a minute. On a busy machine, the copy that waits half a
          // minute for the budget is frozen for longer.
          "FrozenTooLong",
          Stream.concat(
                  NOT_THAWED.stream(),
                  Stream.of(
                      "AlertsTest.frozenWithoutAgent",
                      "BudgetTest.aBudgetThatComesAfterTheDecision"))
              .toList(),
          // The frozen workload is given up; its artifact has the work.
          "WorkloadLost",
          List.of("LeftFrozenTest.theWork"),
          "ColdStart",
          List.of("RestoreTest.aRestoredPod"),
          "AgentDown",
          List.of("AlertsTest.frozenWithoutAgent"),
          // They restart the operator; divided by 30, five minutes are shorter than its start.
          "OperatorDown",
          List.of(
              "AlertsTest.webhookFailing", "DrainTest.", "MigrationTest.", "OperatorDeathTest."),
          "WebhookFailing",
          List.of("DrainTest.aDrainCompletesWithoutAnOperator"));

  @Test
  void eachAlertHasAScenario(AlertRecord alerts) {
    assertThat(
            Stream.of(AlertsTest.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Test.class))
                .map(method -> method.getName().toLowerCase(Locale.ROOT)))
        .containsExactlyInAnyOrderElementsOf(
            alerts.alerts().stream().map(alert -> alert.toLowerCase(Locale.ROOT)).toList());
  }

  @Test
  void noAlertFiresWithoutItsSituation(AlertRecord alerts) throws IOException {
    Map<String, Map<String, Integer>> fired =
        alerts.seen("firing", UnexpectedAlertsTest::isExpected);
    Map<String, Map<String, Integer>> pending =
        alerts.seen("pending", UnexpectedAlertsTest::isExpected);
    write(alerts, fired, pending);

    Map<String, List<String>> unexpected = new TreeMap<>();
    for (String alert : alerts.alerts()) {
      List<String> scenarios =
          others(alerts, fired, alert).stream().filter(title -> !isExpected(alert, title)).toList();
      if (!scenarios.isEmpty()) {
        unexpected.put(alert, scenarios);
      }
    }
    assertThat(unexpected).as("scenarios in which an alert fired without its situation").isEmpty();
  }

  private static boolean isExpected(String alert, String title) {
    return ALSO.getOrDefault(alert, List.of()).stream().anyMatch(title::startsWith);
  }

  private static List<String> others(
      AlertRecord alerts, Map<String, Map<String, Integer>> seen, String alert) {
    AlertRecord.Situation own = alerts.situations().get(alert);
    return seen.entrySet().stream()
        .filter(scenario -> scenario.getValue().containsKey(alert))
        .map(Map.Entry::getKey)
        .filter(title -> own == null || !title.equals(own.scenario()))
        .toList();
  }

  private static void write(
      AlertRecord alerts,
      Map<String, Map<String, Integer>> fired,
      Map<String, Map<String, Integer>> pending)
      throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("All times of the rules divided by %d.".formatted(alerts.faster()));
    lines.add("");
    lines.add("| alert | scenario with its situation | fired after | fired in others |");
    lines.add("|---|---|---|---|");
    for (String alert : alerts.alerts()) {
      AlertRecord.Situation own = alerts.situations().get(alert);
      List<String> others = others(alerts, fired, alert);
      lines.add(
          "| %s | %s | %s | %s |"
              .formatted(
                  alert,
                  own == null ? "-" : own.scenario(),
                  own == null ? "-" : own.after().toSeconds() + " s",
                  others.isEmpty() ? "none" : String.join(", ", others)));
    }
    lines.add("");
    lines.add("| scenario | fired (s) | pending (s) |");
    lines.add("|---|---|---|");
    for (String title : alerts.scenarios()) {
      lines.add("| %s | %s | %s |".formatted(title, cell(fired, title), cell(pending, title)));
    }
    Files.writeString(Path.of("target/alerts.md"), String.join("\n", lines) + "\n");
  }

  private static String cell(Map<String, Map<String, Integer>> seen, String title) {
    return seen.getOrDefault(title, Map.of()).entrySet().stream()
        .map(alert -> alert.getKey() + " " + alert.getValue())
        .collect(Collectors.joining(", "));
  }
}
