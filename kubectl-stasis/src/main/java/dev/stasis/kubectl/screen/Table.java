package dev.stasis.kubectl.screen;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Columns as kubectl sets them: a header, three blanks between, nothing at the end of a line. */
public final class Table {

  private static final String GAP = "   ";

  private final List<List<String>> rows = new ArrayList<>();

  /** With its header. */
  public Table(String... header) {
    rows.add(List.of(header));
  }

  /** Another row; an empty cell stays empty. */
  public void add(String... cells) {
    rows.add(Stream.of(cells).map(Printable::line).toList());
  }

  /** Whether it has no row but the header. */
  public boolean isEmpty() {
    return rows.size() == 1;
  }

  /** The lines. */
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
