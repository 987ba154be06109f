package dev.stasis.agent.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows under a header; each column is as wide as its widest cell, and the last column is never
 * padded.
 */
final class Table {

  private final List<List<String>> rows = new ArrayList<>();

  Table(String... heading) {
    row(heading);
  }

  Table row(String... cells) {
    rows.add(Arrays.asList(cells));
    return this;
  }

  List<String> lines() {
    int columns = rows.get(0).size();
    int[] width = new int[columns];
    for (List<String> row : rows) {
      for (int column = 0; column < columns; column++) {
        width[column] = Math.max(width[column], row.get(column).length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < columns - 1; column++) {
        String cell = row.get(column);
        line.append(cell).append(" ".repeat(width[column] - cell.length() + 2));
      }
      lines.add(line.append(row.get(columns - 1)).toString().stripTrailing());
    }
    return lines;
  }
}
