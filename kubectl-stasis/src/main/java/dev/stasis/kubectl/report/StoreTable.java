package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Words;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** {@code kubectl stasis store ls}: one line per store. */
public final class StoreTable implements Columns {

  @Override
  public List<String> header() {
    return List.of(
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
  }

  @Override
  public Comparator<Resource> order() {
    return Comparator.comparing(Resource::name);
  }

  @Override
  public List<String> row(Resource store, Instant now) {
    return List.of(
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
        store.text("status.reason"));
  }
}
