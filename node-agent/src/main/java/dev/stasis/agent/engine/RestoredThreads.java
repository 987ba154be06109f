package dev.stasis.agent.engine;

import dev.stasis.agent.container.CpusetReader;
import dev.stasis.agent.process.CpuSet;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ThreadControl;
import dev.stasis.agent.process.ThreadSettings;
import dev.stasis.artifact.ProcessFacts;
import dev.stasis.artifact.ThreadFacts;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Restores thread settings that criu does not: CPU affinity and timer slack. Threads also run
 * without them, only slower, so a failure is only logged.
 */
final class RestoredThreads {

  private static final System.Logger LOG = System.getLogger(RestoredThreads.class.getName());

  private final Restoring restoring;
  private final ThreadControl control;

  RestoredThreads(Restoring restoring) {
    this.restoring = restoring;
    this.control = new ThreadControl(restoring.node().proc());
  }

  /** The tree is stopped: no thread can end meanwhile and have its number reused. */
  void settle() {
    CpuSet room = new CpusetReader().read(restoring.target());
    for (ProcessFacts facts : restoring.artifact().manifest().processes()) {
      ProcessId process = restoring.byOwnPid().get(facts.ownPid());
      if (process != null) {
        Map<Integer, ThreadFacts> before = new HashMap<>();
        facts.threads().forEach(thread -> before.put(thread.ownTid(), thread));
        for (ThreadSettings thread : restoring.node().proc().threadSettings(process.pid())) {
          settle(thread, before.get(thread.ownTid()), room);
        }
      }
    }
  }

  private void settle(ThreadSettings thread, @Nullable ThreadFacts before, CpuSet room) {
    CpuSet wanted = before == null ? room : processors(before, room);
    try {
      // The cgroup already gives it all processors, unless the agent itself was bound.
      if (wanted.equals(room) ? room.isMoreThan(thread.cpus()) : !wanted.equals(thread.cpus())) {
        control.pin(thread.tid(), wanted);
      }
      if (before != null && before.timerSlackNanos() != null) {
        control.timerSlack(thread.tid(), before.timerSlackNanos());
      }
    } catch (IOException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "Cannot restore the settings of thread {0}: {1}",
          Integer.toString(thread.ownTid()),
          e.getMessage());
    }
  }

  /** All processors for a thread that was not bound, or whose processors do not exist. */
  private static CpuSet processors(ThreadFacts before, CpuSet room) {
    if (before.cpus() == null || before.ofCpus() == null) {
      return room;
    }
    Optional<CpuSet> carried = carried(before.cpus(), before.ofCpus(), room);
    if (carried.isEmpty()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "Thread {0} was bound to processors {1} of {2}; the target has {3}: not bound",
          Integer.toString(before.ownTid()),
          before.cpus(),
          before.ofCpus(),
          room);
    }
    return carried.orElse(room);
  }

  private static Optional<CpuSet> carried(String cpus, String of, CpuSet room) {
    try {
      return CpuSet.parse(cpus).carried(CpuSet.parse(of), room);
    } catch (IllegalArgumentException e) {
      // An artifact may come from anywhere, and an invalid value here must not fail the restore.
      return Optional.empty();
    }
  }
}
