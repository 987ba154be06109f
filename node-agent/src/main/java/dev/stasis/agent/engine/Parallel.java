package dev.stasis.agent.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Runs an action for several processes in parallel, and waits for all of them, failed, interrupted
 * or not: an undo must never begin while a call of the same phase still runs.
 */
final class Parallel {

  /** The action for one process. */
  interface Action<T> {
    void on(T one) throws StepFailure, InterruptedException;
  }

  <T> void forEach(List<T> all, Action<T> action) throws StepFailure, InterruptedException {
    if (all.size() == 1) {
      action.on(all.get(0));
      return;
    }
    if (all.isEmpty()) {
      return;
    }
    // A driver call blocks for seconds, so each gets its own thread.
    ExecutorService threads = Executors.newFixedThreadPool(all.size());
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (T one : all) {
        tasks.add(
            () -> {
              action.on(one);
              return null;
            });
      }
      StepFailure first = null;
      for (Future<Void> result : threads.invokeAll(tasks)) {
        try {
          result.get();
        } catch (ExecutionException e) {
          StepFailure failure =
              e.getCause() instanceof StepFailure known
                  ? known
                  : new StepFailure(Reason.INTERNAL, String.valueOf(e.getCause()), e);
          if (first == null) {
            first = failure;
          } else {
            first.addSuppressed(failure);
          }
        }
      }
      if (first != null) {
        throw first;
      }
    } finally {
      end(threads);
    }
  }

  /**
   * Waits for the actions. An interrupt of the caller has interrupted them too, once: they may need
   * a moment to end, which their own deadlines limit.
   */
  private static void end(ExecutorService threads) {
    boolean interrupted = false;
    threads.shutdown();
    while (!threads.isTerminated()) {
      try {
        var unused = threads.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
