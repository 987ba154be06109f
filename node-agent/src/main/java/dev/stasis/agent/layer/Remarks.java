package dev.stasis.agent.layer;

import java.util.ArrayList;
import java.util.List;

/** Sentences about single files for users: the first ones, and the number of further ones. */
final class Remarks {

  /** Enough for a reader; a workload may delete a million files. */
  private static final int KEPT = 100;

  private final List<String> kept = new ArrayList<>();
  private long more;

  void add(String remark) {
    if (kept.size() < KEPT) {
      kept.add(remark);
    } else {
      more++;
    }
  }

  List<String> all() {
    List<String> all = new ArrayList<>(kept);
    all.sort(null);
    if (more > 0) {
      all.add("and %d more".formatted(more));
    }
    return all;
  }
}
