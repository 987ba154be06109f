package dev.stasis.agent.daemon.operation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;

/**
 * Lets operations run one after the other on a GPU or a pod, in the order of their creation, and
 * side by side on different ones. None overtakes an older one that wants one of the same places, so
 * one that wants all GPUs gets its turn.
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

  private record Turn(String name, Instant created, Set<Object> places, Runnable work) {}

  /**
   * Takes one in; one without a place runs at once.
   *
   * @param places GPUs and pods that it has to itself while it runs
   */
  synchronized void submit(String name, Instant created, Set<?> places, Runnable work) {
    waiting.add(new Turn(name, created, new HashSet<>(places), work));
    startWhoCan();
  }

  /** Lets others have the places of one that runs, all but those. */
  synchronized void keepOnly(String name, Set<?> places) {
    running.stream()
        .filter(turn -> turn.name().equals(name))
        .forEach(turn -> turn.places().retainAll(places));
    startWhoCan();
  }

  /** Takes one out that has not begun; false when it runs or was never there. */
  synchronized boolean withdraw(String name) {
    boolean removed = waiting.removeIf(turn -> turn.name().equals(name));
    startWhoCan();
    return removed;
  }

  private void startWhoCan() {
    Set<Object> taken = new HashSet<>();
    running.forEach(turn -> taken.addAll(turn.places()));
    for (Turn turn : List.copyOf(waiting)) {
      if (turn.places().stream().noneMatch(taken::contains)) {
        waiting.remove(turn);
        running.add(turn);
        executor.execute(() -> run(turn));
      }
      taken.addAll(turn.places());
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
