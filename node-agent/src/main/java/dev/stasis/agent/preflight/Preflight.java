package dev.stasis.agent.preflight;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** All checks on a running workload; all failures are reported, not only the first. */
public final class Preflight {

  private final List<Check> checks;

  /**
   * Creates the checks.
   *
   * @param nothingShared whether the user states that processes share no GPU memory
   */
  public Preflight(boolean nothingShared) {
    this(
        List.of(
            new ProcessCheck(false),
            new OpenFileCheck(),
            new IoUringCheck(),
            new LinuxAioCheck(),
            new SocketCheck(),
            new RankCheck(),
            new MountCheck(),
            new LabelCheck(),
            new GpuCheck(),
            new MulticastCheck(),
            new SharingCheck(nothingShared)));
  }

  private Preflight(List<Check> checks) {
    this.checks = checks;
  }

  /** The checks of device memory, for locked processes: nothing about it can change any more. */
  public static Preflight locked(boolean nothingShared) {
    return new Preflight(List.of(new MulticastCheck(), new SharingCheck(nothingShared)));
  }

  /** The checks of what may have changed before the workload was stopped. */
  public static Preflight stopped() {
    return new Preflight(
        List.of(
            new ProcessCheck(true),
            new OpenFileCheck(),
            new IoUringCheck(),
            new LinuxAioCheck(),
            new SocketCheck(),
            new RankCheck(),
            new MountCheck(),
            new LabelCheck()));
  }

  /** Returns what prevents a checkpoint or a restore in another pod; empty if nothing does. */
  public List<FailedRequirement> unmet(Subject subject) {
    LinkedHashSet<FailedRequirement> all = new LinkedHashSet<>();
    for (Check check : checks) {
      all.addAll(check.unmet(subject));
    }
    return new ArrayList<>(all);
  }
}
