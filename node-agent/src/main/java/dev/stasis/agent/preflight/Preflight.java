package dev.stasis.agent.preflight;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** All checks on a running workload; every reason is told, not only the first. */
public final class Preflight {

  private final List<Check> checks;

  /**
   * The checks.
   *
   * @param allowPeerToPeer whether several processes with NCCL are taken although their shared
   *     memory may not come back
   */
  public Preflight(boolean allowPeerToPeer) {
    this.checks = List.of(new ProcessCheck(), new OpenFileCheck(), new GpuCheck(allowPeerToPeer));
  }

  /** What rules a checkpoint out; empty when nothing does. */
  public List<Unmet> unmet(Subject subject) {
    LinkedHashSet<Unmet> all = new LinkedHashSet<>();
    for (Check check : checks) {
      all.addAll(check.unmet(subject));
    }
    return new ArrayList<>(all);
  }
}
