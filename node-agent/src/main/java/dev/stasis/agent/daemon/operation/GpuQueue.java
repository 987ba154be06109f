package dev.stasis.agent.daemon.operation;

import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs operations on the same GPU or pod one after the other, in the order of their creation, and
 * in parallel on different ones. No operation overtakes an older one that needs one of the same
 * resources, so an operation that needs all GPUs is not starved.
 */
final class GpuQueue {

  private static final System.Logger LOG = System.getLogger(GpuQueue.class.getName());

  private final Executor executor;
  private final Consumer<Runnable> later;
  private final TreeSet<Entry> waiting =
      new TreeSet<>(Comparator.comparing(Entry::created).thenComparing(Entry::name));
  private final List<Entry> running = new ArrayList<>();

  /**
   * Creates a queue that runs operations by an executor.
   *
   * @param later runs a task after a wait
   */
  GpuQueue(Executor executor, Consumer<Runnable> later) {
    this.executor = executor;
    this.later = later;
  }

  private record Entry(String name, Instant created, Set<Object> places, Runnable work) {}

  /**
   * Adds an operation; one without resources runs immediately. One that could run but cannot be
   * started, for example without a free thread, is not added.
   *
   * @param places GPUs and pods that it needs exclusively
   */
  synchronized void submit(String name, Instant created, Set<?> places, Runnable work) {
    Entry entry = new Entry(name, created, new HashSet<>(places), work);
    waiting.add(entry);
    startWhoCan(entry);
  }

  /** Releases the resources of a running operation, except these. */
  synchronized void keepOnly(String name, Set<?> places) {
    running.stream()
        .filter(entry -> entry.name().equals(name))
        .forEach(entry -> entry.places().retainAll(places));
    startWhoCan(null);
  }

  /** Removes an operation that has not started; false if it runs or was never added. */
  synchronized boolean withdraw(String name) {
    boolean removed = waiting.removeIf(entry -> entry.name().equals(name));
    startWhoCan(null);
    return removed;
  }

  private synchronized void startAgain() {
    startWhoCan(null);
  }

  private void startWhoCan(@Nullable Entry submitted) {
    Set<Object> taken = new HashSet<>();
    running.forEach(entry -> taken.addAll(entry.places()));
    for (Entry entry : List.copyOf(waiting)) {
      if (entry.places().stream().noneMatch(taken::contains)) {
        start(entry, Objects.equals(entry, submitted));
      }
      taken.addAll(entry.places());
    }
  }

  /** One that cannot be started must not occupy its places. */
  private void start(Entry entry, boolean isSubmitted) {
    waiting.remove(entry);
    running.add(entry);
    try {
      executor.execute(() -> run(entry));
    } catch (RuntimeException | Error e) {
      running.remove(entry);
      if (isSubmitted) {
        throw e; // Its caller tries it again.
      }
      waiting.add(entry);
      LOG.log(Level.WARNING, entry.name() + " cannot be started yet", e);
      later.accept(this::startAgain);
    }
  }

  private void run(Entry entry) {
    try {
      entry.work().run();
    } finally {
      synchronized (this) {
        running.remove(entry);
        startWhoCan(null);
      }
    }
  }
}
