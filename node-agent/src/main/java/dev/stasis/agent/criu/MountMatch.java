package dev.stasis.agent.criu;

import java.util.List;
import java.util.stream.Collectors;

/** The result of matching a source's mounts to a target's. */
public sealed interface MountMatch {

  /** Every mount has its counterpart. */
  record Matched(List<MountPair> pairs) implements MountMatch {
    public Matched {
      pairs = List.copyOf(pairs);
    }
  }

  /** The target cannot run the workload. */
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
   * A mismatch.
   *
   * @param property the property that was compared
   * @param wanted the source's value
   * @param found the target's value
   */
  record Reason(String property, String wanted, String found) {
    @Override
    public String toString() {
      return property + ": expected " + wanted + ", got " + found;
    }
  }
}
