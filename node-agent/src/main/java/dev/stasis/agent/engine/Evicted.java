package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.Signal;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Ends a held workload with a published artifact, when its caller reports that its pod is gone. A
 * checkpointed process holds no GPU state, so killing it is safe.
 */
public final class Evicted {

  private static final System.Logger LOG = System.getLogger(Evicted.class.getName());

  /**
   * A killed process is gone immediately; freeing a hundred gigabytes takes the kernel some
   * seconds.
   */
  private static final Duration END_LIMIT = Duration.ofSeconds(60);

  private final NodeParts node;

  Evicted(NodeParts node) {
    this.node = node;
  }

  /** Ends it. From here on the processes cannot be thawed; only the artifact can be restored. */
  public ThawOutcome end(String containerId) throws InterruptedException {
    Optional<HostLocks.Held> lock = node.locks().tryTake(containerId);
    if (lock.isEmpty()) {
      return new ThawOutcome.NotFound("another operation is running on container " + containerId);
    }
    try (HostLocks.Held held = lock.get()) {
      Optional<Work> work = node.journal().read(containerId);
      if (work.isEmpty()
          || (work.get().phase() != Work.Phase.HELD && work.get().phase() != Work.Phase.ENDING)) {
        return new ThawOutcome.NotFound(
            "container %s: expected a held workload with a published artifact, got %s"
                .formatted(containerId, work.map(w -> w.phase().name()).orElse("none")));
      }
      long begin = node.nanoTime().getAsLong();
      FrozenWork frozen = new FrozenWork(node, work.get(), StepListener.NONE);
      SourceState state = finish(frozen);
      return new ThawOutcome.Ended(
          state, new StepTimings(), Duration.ofNanos(node.nanoTime().getAsLong() - begin));
    }
  }

  /**
   * Holds a workload with a published artifact although the agent that published it died before it
   * recorded that.
   *
   * @return whether it is held now
   */
  public boolean hold(String containerId) {
    Optional<HostLocks.Held> lock = node.locks().tryTake(containerId);
    if (lock.isEmpty()) {
      return false;
    }
    try (HostLocks.Held held = lock.get()) {
      Optional<Work> work = node.journal().read(containerId);
      if (work.isEmpty() || work.get().after() != After.EVICT) {
        return false;
      }
      if (work.get().phase() == Work.Phase.WORKING) {
        node.journal().write(work.get().withPhase(Work.Phase.HELD));
        return true;
      }
      return work.get().phase() == Work.Phase.HELD;
    }
  }

  /** Ends the remaining processes and deletes the journal; also after a crash in between. */
  SourceState finish(FrozenWork frozen) throws InterruptedException {
    frozen.note(work -> work.withPhase(Work.Phase.ENDING));
    Set<ProcessId> all = new LinkedHashSet<>(frozen.work().tree());
    frozen.work().cuda().forEach(process -> all.add(process.process()));
    Optional<Container> container = frozen.container();
    container.ifPresent(found -> all.addAll(node.tree().list(found).living()));
    List<ProcessId> left = new Killing(node.pids()).kill(List.copyOf(all), END_LIMIT);
    if (!left.isEmpty()) {
      return new SourceState(
          SourceState.Kind.UNKNOWN, "processes still running after SIGKILL: " + left);
    }
    try {
      node.keepers().end(frozen.work().containerId());
      new StageFiles(frozen).remove();
      node.journal().remove(frozen.work().containerId());
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "leftovers of " + frozen.work().id(), e);
    }
    return new SourceState(SourceState.Kind.GONE, all.size() + " processes ended");
  }

  /** Kills processes and waits for their end. */
  record Killing(PidFds pids) {

    /**
     * Returns the processes that did not end in time.
     *
     * @throws IllegalStateException if this process is among them: the list is then not that of a
     *     container, and no process is killed
     */
    List<ProcessId> kill(List<ProcessId> processes, Duration limit) {
      long self = ProcessHandle.current().pid();
      if (processes.stream().anyMatch(process -> process.pid() == self || process.pid() == 1)) {
        throw new IllegalStateException(
            "processes of a container: expected only its own, got the agent among " + processes);
      }
      for (ProcessId process : processes) {
        try (PidFd held = pids.open(process).orElse(null)) {
          if (held != null) {
            held.send(Signal.KILL);
          }
        }
      }
      long until = System.nanoTime() + limit.toNanos();
      return processes.stream()
          .filter(
              process ->
                  !pids.awaitEnd(process, Duration.ofNanos(Math.max(0, until - System.nanoTime()))))
          .toList();
    }
  }
}
