package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Table;
import dev.stasis.kubectl.screen.Words;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** {@code kubectl stasis store ls}: one line per store. */
public final class StoreTable {

  /** Returns the table; an empty text if there are no rows. */
  public String text(List<Resource> stores, Instant now) {
    Table table =
        new Table(
            "STORE",
            "TYPE",
            "DEFAULT",
            "CAPACITY",
            "USED",
            "LOGICAL",
            "RATIO",
            "FREE",
            "ARTIFACTS",
            "MEASURED",
            "STATE");
    stores.stream()
        .sorted(Comparator.comparing(Resource::name))
        .forEach(
            store ->
                table.add(
                    store.name(),
                    store.text("status.type"),
                    store.isTrue("spec.default") ? "yes" : "",
                    store.text("status.capacity"),
                    store.text("status.used"),
                    store.text("status.logical"),
                    store.text("status.ratio"),
                    store.text("status.free"),
                    store.text("status.artifacts"),
                    Words.age(store.time("status.measuredTime"), now),
                    store.text("status.reason")));
    return table.isEmpty() ? "" : table.toString();
  }
}
