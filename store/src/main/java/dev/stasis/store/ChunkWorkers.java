package dev.stasis.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Runs numbered pieces of work, in order, on a few threads; the first failure ends all work.
 *
 * @param threads 1 to {@value #MOST}
 */
record ChunkWorkers(int threads) {
  static final int MOST = 16;

  ChunkWorkers {
    if (threads < 1 || threads > MOST) {
      throw new IllegalArgumentException(
          "threads: expected 1 to %d, got %d".formatted(MOST, threads));
    }
  }

  /** One thread's worker, with buffers of its own. */
  interface Worker extends AutoCloseable {
    void run(int number) throws IOException, InterruptedException;

    @Override
    default void close() throws IOException {}
  }

  void run(int count, Supplier<Worker> workers) throws IOException {
    int used = Math.min(threads, count);
    if (used == 0) {
      return;
    }
    AtomicInteger next = new AtomicInteger();
    ExecutorService executor =
        Executors.newFixedThreadPool(
            used,
            task -> {
              Thread thread = new Thread(task, "store-chunks");
              thread.setDaemon(true);
              return thread;
            });
    try {
      ExecutorCompletionService<Integer> completion = new ExecutorCompletionService<>(executor);
      List<Future<Integer>> futures = new ArrayList<>();
      for (int i = 0; i < used; i++) {
        futures.add(completion.submit(() -> work(next, count, workers)));
      }
      for (int i = 0; i < futures.size(); i++) {
        completion.take().get();
      }
    } catch (ExecutionException e) {
      next.set(count);
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while reading or writing a store");
    } finally {
      stop(executor);
    }
  }

  private static int work(AtomicInteger next, int count, Supplier<Worker> workers)
      throws IOException, InterruptedException {
    int done = 0;
    try (Worker worker = workers.get()) {
      for (int number = next.getAndIncrement();
          number < count && !Thread.currentThread().isInterrupted();
          number = next.getAndIncrement()) {
        worker.run(number);
        done++;
      }
    }
    return done;
  }

  /** Nothing may write into a folder that the caller is about to delete. */
  private static void stop(ExecutorService executor) {
    executor.shutdownNow();
    boolean interrupted = Thread.interrupted();
    try {
      // An interrupted channel ends at once, and a call to a server at its own deadline; a dead
      // disk must not hold the caller forever.
      boolean ended = executor.awaitTermination(2, TimeUnit.MINUTES);
      if (!ended) {
        throw new IllegalStateException(
            "a thread did not end within 2 min: the disk does not respond");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
