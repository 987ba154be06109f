package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.GpuUuid;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;

/**
 * Lets operations run one after the other on a GPU, in the order of their creation, and side by
 * side on different ones. Nobody overtakes an older one that wants one of the same GPUs, so one
 * that wants all of them gets its turn.
 */
final class GpuQueue {

  private final Executor executor;
  private final TreeSet<Turn> waiting =
      new TreeSet<>(Comparator.comparing(Turn::created).thenComparing(Turn::name));
  private final List<Turn> running = new ArrayList<>();

  /** A queue that runs what has its turn by an executor. */
  GpuQueue(Executor executor) {
    this.executor = executor;
  }

  private record Turn(String name, Instant created, Set<GpuUuid> gpus, Runnable work) {}

  /** Takes one in; one without GPUs runs at once. */
  synchronized void submit(String name, Instant created, Set<GpuUuid> gpus, Runnable work) {
    waiting.add(new Turn(name, created, Set.copyOf(gpus), work));
    startWhoCan();
  }

  /** Takes one out that has not begun; false when it runs or was never there. */
  synchronized boolean withdraw(String name) {
    boolean removed = waiting.removeIf(turn -> turn.name().equals(name));
    startWhoCan();
    return removed;
  }

  private void startWhoCan() {
    Set<GpuUuid> taken = new HashSet<>();
    running.forEach(turn -> taken.addAll(turn.gpus()));
    for (Turn turn : List.copyOf(waiting)) {
      if (turn.gpus().stream().noneMatch(taken::contains)) {
        waiting.remove(turn);
        running.add(turn);
        executor.execute(() -> run(turn));
      }
      taken.addAll(turn.gpus());
    }
  }

  private void run(Turn turn) {
    try {
      turn.work().run();
    } finally {
      synchronized (this) {
        running.remove(turn);
        startWhoCan();
      }
    }
  }
}
