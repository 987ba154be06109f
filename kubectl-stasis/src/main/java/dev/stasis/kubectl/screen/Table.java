package dev.stasis.kubectl.screen;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Columns in kubectl's format: a header, three spaces between columns, no trailing spaces. */
public final class Table {

  private static final String GAP = "   ";

  private final List<List<String>> rows = new ArrayList<>();
  private final int[] widths;

  /** Creates a table with its header. */
  public Table(String... header) {
    widths = new int[header.length];
    add(header);
  }

  /** Adds a row; an empty cell stays empty. */
  public void add(String... cells) {
    rows.add(printable(cells));
  }

  /** Returns the line of a row that is printed below the table, and not added to it. */
  public String below(String... cells) {
    return line(printable(cells));
  }

  /** Returns whether it has only the header. */
  public boolean isEmpty() {
    return rows.size() == 1;
  }

  /** Returns the lines. */
  public List<String> lines() {
    return rows.stream().map(this::line).toList();
  }

  @Override
  public String toString() {
    return String.join("\n", lines());
  }

  /** Columns become wider, never narrower: a line below others stays aligned with the next ones. */
  private List<String> printable(String... cells) {
    List<String> row = Stream.of(cells).map(Printable::line).toList();
    for (int i = 0; i < widths.length; i++) {
      widths[i] = Math.max(widths[i], row.get(i).length());
    }
    return row;
  }

  private String line(List<String> row) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String cell = row.get(i);
      line.append(cell).append(" ".repeat(widths[i] - cell.length())).append(GAP);
    }
    return line.toString().stripTrailing();
  }
}
