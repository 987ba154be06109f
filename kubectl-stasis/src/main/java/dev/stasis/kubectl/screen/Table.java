package dev.stasis.kubectl.screen;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Columns in kubectl's format: a header, three spaces between columns, no trailing spaces. */
public final class Table {

  private static final String GAP = "   ";

  private final List<List<String>> rows = new ArrayList<>();

  /** Creates a table with its header. */
  public Table(String... header) {
    rows.add(List.of(header));
  }

  /** Adds a row; an empty cell stays empty. */
  public void add(String... cells) {
    rows.add(Stream.of(cells).map(Printable::line).toList());
  }

  /** Returns whether it has only the header. */
  public boolean isEmpty() {
    return rows.size() == 1;
  }

  /** Returns the lines. */
  public List<String> lines() {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        String cell = row.get(i);
        line.append(cell).append(" ".repeat(widths[i] - cell.length())).append(GAP);
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  @Override
  public String toString() {
    return String.join("\n", lines());
  }
}
