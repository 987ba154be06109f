package dev.stasis.e2e.kube;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The figures of several batches, one column for each batch. */
final class BatchTable {

  private final Map<String, List<String>> rows = new LinkedHashMap<>();

  /** Adds a figure of the current batch. */
  void add(String figure, String value) {
    rows.computeIfAbsent(figure, it -> new ArrayList<>()).add(value);
  }

  /** Returns the table in Markdown. */
  String text() {
    int batches = rows.values().iterator().next().size();
    List<String> head = new ArrayList<>();
    for (int batch = 1; batch <= batches; batch++) {
      head.add("batch " + batch);
    }
    StringBuilder text = new StringBuilder(row("", head));
    text.append("|---".repeat(batches + 1)).append("|\n");
    rows.forEach((figure, values) -> text.append(row(figure, values)));
    return text.toString();
  }

  private static String row(String figure, List<String> values) {
    return "| %s | %s |%n".formatted(figure, String.join(" | ", values));
  }
}
