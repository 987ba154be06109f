package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Table;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** The columns of a list of objects. */
public interface Columns {

  /** Returns the names of the columns. */
  List<String> header();

  /** Returns the cells of one object. */
  List<String> row(Resource object, Instant now);

  /** Returns the order of the rows. */
  Comparator<Resource> order();

  /** Returns the table; it has a header even if there are no rows. */
  default Table table(List<Resource> objects, Instant now) {
    Table table = new Table(header().toArray(String[]::new));
    objects.stream()
        .sorted(order())
        .forEach(object -> table.add(row(object, now).toArray(String[]::new)));
    return table;
  }

  /** Returns the table as text; empty if there are no rows. */
  default String text(List<Resource> objects, Instant now) {
    return objects.isEmpty() ? "" : table(objects, now).toString();
  }
}
