package dev.stasis.artifact;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Processes files on several threads; the first failure ends all work.
 *
 * @param threads the requested number; at most {@value #MOST} are used
 */
public record Workers(int threads) {
  /**
   * Each thread has buffers, and the agent's heap is the same on every machine, while servers with
   * eight GPUs have 200 hardware threads and more. Sixteen threads compute digests faster than
   * disks read.
   */
  static final int MOST = 16;

  public Workers {
    if (threads < 1) {
      throw new IllegalArgumentException("threads: expected at least 1, got " + threads);
    }
  }

  /** Returns the results in the order of the inputs. */
  public <T> List<T> all(List<Callable<T>> work) throws IOException {
    ExecutorService executor = Executors.newFixedThreadPool(Math.min(threads, MOST));
    try {
      ExecutorCompletionService<T> completion = new ExecutorCompletionService<>(executor);
      List<Future<T>> futures = new ArrayList<>(work.size());
      work.forEach(piece -> futures.add(completion.submit(piece)));
      for (int i = 0; i < work.size(); i++) {
        completion.take().get();
      }
      List<T> results = new ArrayList<>(work.size());
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while reading or writing an artifact");
    } finally {
      stop(executor);
    }
  }

  /** No thread may write into a folder that the caller is about to delete. */
  private static void stop(ExecutorService executor) {
    executor.shutdownNow();
    boolean interrupted = Thread.interrupted();
    try {
      // An interrupted channel ends within one read of 256 KiB, or one flush of 64 MiB at most; a
      // failed disk must not block forever.
      boolean ended = executor.awaitTermination(30, TimeUnit.SECONDS);
      if (!ended) {
        throw new IllegalStateException(
            "a reading thread did not end within 30 s: the disk does not respond");
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
