package dev.stasis.agent.cli;

import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepTimings;
import dev.stasis.agent.preflight.FailedRequirement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Parts that the answers of several commands share, as JSON and as text. */
final class Answers {

  private Answers() {}

  /** {@code [{"property":..., "wanted":..., "found":...}]}. */
  static List<Map<String, Object>> unmet(List<FailedRequirement> unmet) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (FailedRequirement one : unmet) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("property", one.property());
      entry.put("wanted", one.wanted());
      entry.put("found", one.found());
      all.add(entry);
    }
    return all;
  }

  /** A refusal: the requirements that were not met. */
  static Report refused(List<FailedRequirement> unmet) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("outcome", "Refused");
    json.put("unmet", unmet(unmet));
    List<String> errors = new ArrayList<>();
    errors.add("stasis-node: refused; nothing was changed");
    unmet.forEach(one -> errors.add("  " + one));
    return new Report(ExitCode.REFUSED, json, List.of(), errors);
  }

  /** The same for a single sentence. */
  static Report refused(String why) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("outcome", "Refused");
    json.put("message", why);
    return new Report(ExitCode.REFUSED, json, List.of(), List.of("stasis-node: refused: " + why));
  }

  /** {@code [{"step":..., "milliseconds":...}]}, in the order of the steps. */
  static List<Map<String, Object>> steps(StepTimings timings) {
    List<Map<String, Object>> steps = new ArrayList<>();
    timings
        .asMap()
        .forEach(
            (step, took) -> {
              Map<String, Object> entry = new LinkedHashMap<>();
              entry.put("step", step);
              entry.put("milliseconds", took.toMillis());
              steps.add(entry);
            });
    return steps;
  }

  /** One line per step. */
  static List<String> stepTable(StepTimings timings) {
    Table table = new Table("STEP", "TIME");
    timings.asMap().forEach((step, took) -> table.row(step, new Span(took).toString()));
    return table.lines();
  }

  /** {@code {"state":"Running", "detail":...}}. */
  static Map<String, Object> source(SourceState state) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("state", word(state.kind().name()));
    json.put("detail", state.detail());
    return json;
  }

  /** Converts {@code RUNNING} to the form of the API: {@code Running}. */
  static String word(String name) {
    return name.charAt(0) + name.substring(1).toLowerCase(Locale.ROOT);
  }
}
