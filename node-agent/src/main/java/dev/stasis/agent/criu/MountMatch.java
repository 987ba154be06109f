package dev.stasis.agent.criu;

import java.util.List;
import java.util.stream.Collectors;

/** What came of holding a source's mounts against a target's. */
public sealed interface MountMatch {

  /** Every mount has its counterpart. */
  record Matched(List<MountPair> pairs) implements MountMatch {
    public Matched {
      pairs = List.copyOf(pairs);
    }
  }

  /** The target cannot take the workload. */
  record Refused(List<Reason> reasons) implements MountMatch {
    public Refused {
      reasons = List.copyOf(reasons);
    }

    @Override
    public String toString() {
      return reasons.stream().map(Reason::toString).collect(Collectors.joining("; "));
    }
  }

  /**
   * One thing that does not fit.
   *
   * @param property what was compared
   * @param wanted what the source has
   * @param found what the target has
   */
  record Reason(String property, String wanted, String found) {
    @Override
    public String toString() {
      return property + ": wanted " + wanted + ", found " + found;
    }
  }
}
