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
    this(
        List.of(
            new ProcessCheck(),
            new OpenFileCheck(),
            new SocketCheck(),
            new MountCheck(),
            new LabelCheck(),
            new GpuCheck(allowPeerToPeer)));
  }

  private Preflight(List<Check> checks) {
    this.checks = checks;
  }

  /** What keeps a stopped workload from another pod. */
  public static Preflight portability() {
    return new Preflight(List.of(new SocketCheck(), new MountCheck(), new LabelCheck()));
  }

  /** What rules a checkpoint or a restore in another pod out; empty when nothing does. */
  public List<Unmet> unmet(Subject subject) {
    LinkedHashSet<Unmet> all = new LinkedHashSet<>();
    for (Check check : checks) {
      all.addAll(check.unmet(subject));
    }
    return new ArrayList<>(all);
  }
}
