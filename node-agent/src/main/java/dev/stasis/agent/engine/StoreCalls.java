package dev.stasis.agent.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The calls of one checkpoint that use files of its store while the workload is frozen, each in a
 * thread of its own. A disk or a server that does not respond holds its callers in the kernel,
 * where nothing ends them, and a frozen workload must not wait for it: a call without progress is
 * left behind.
 */
final class StoreCalls {

  private static final System.Logger LOG = System.getLogger(StoreCalls.class.getName());

  /**
   * An interrupted call ends at its next access to a file: milliseconds, on a disk that responds.
   */
  private static final Duration TO_END = Duration.ofSeconds(2);

  private final Duration silence;
  private final List<Left> leftBehind = new CopyOnWriteArrayList<>();

  /**
   * No calls yet.
   *
   * @param silence a call without progress for so long is left behind
   */
  StoreCalls(Duration silence) {
    this.silence = silence;
  }

  /** Receives the progress of a call. */
  interface Pulse {

    /**
     * The call makes progress.
     *
     * @throws IOException if it was left behind, and must not continue
     */
    default void beat() throws IOException {
      beat(Duration.ZERO);
    }

    /** The same; the next part may take longer than usual without progress. */
    void beat(Duration longer) throws IOException;
  }

  /** A call. */
  interface Action<T> {
    T run(Pulse pulse) throws StepFailure, IOException, InterruptedException;
  }

  /** A thread or a helper that waits for the store. */
  interface Left {
    void awaitEnd() throws InterruptedException;
  }

  /** A call at the end. */
  interface LastAction {
    void run() throws IOException;
  }

  /**
   * Runs a call and waits for its end. One that succeeds although it is given up just then, or its
   * caller was interrupted, has succeeded: it may have published an artifact. The caller stays
   * interrupted.
   *
   * @throws StepFailure if it is left behind
   */
  <T> T call(String what, Action<T> action) throws StepFailure, IOException, InterruptedException {
    Call<T> call = new Call<>(silence, action);
    FutureTask<T> task = new FutureTask<>(call);
    Thread thread = start(what, task);
    boolean interrupted = false;
    try {
      for (long left = call.left(); left > 0; left = call.left()) {
        try {
          return task.get(left, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          continue; // It may have made progress meanwhile.
        }
      }
    } catch (ExecutionException e) {
      throw failure(what, e);
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      call.leave();
      end(thread);
    }
    Optional<T> late = result(task);
    if (late.isPresent()) {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      return late.get();
    }
    if (interrupted) {
      throw new InterruptedException(what);
    }
    throw new StepFailure(
        Reason.STORE_FAILED,
        "%s: expected progress within %d s, got none; does the store respond?"
            .formatted(what, call.limit().toSeconds()));
  }

  private static StepFailure failure(String what, ExecutionException e)
      throws StepFailure, IOException, InterruptedException {
    if (e.getCause() instanceof StepFailure known) {
      throw known;
    }
    if (e.getCause() instanceof IOException known) {
      throw known;
    }
    if (e.getCause() instanceof InterruptedException known) {
      throw known;
    }
    return new StepFailure(Reason.INTERNAL, what + ": " + e.getCause(), e);
  }

  /**
   * Runs what must follow all calls, including those that are left behind. If there are some, waits
   * for it only as long as they need to end in a store that responds.
   */
  void last(String what, LastAction action) {
    List<Left> before = List.copyOf(leftBehind);
    FutureTask<Void> task =
        new FutureTask<>(
            () -> {
              for (Left left : before) {
                left.awaitEnd();
              }
              action.run();
              return null;
            });
    Thread thread = start(what, task);
    try {
      task.get((before.isEmpty() ? silence : TO_END).toNanos(), TimeUnit.NANOSECONDS);
      return;
    } catch (ExecutionException e) {
      LOG.log(System.Logger.Level.WARNING, what, e.getCause());
      return;
    } catch (TimeoutException e) {
      LOG.log(System.Logger.Level.DEBUG, what, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    LOG.log(System.Logger.Level.WARNING, "Left until the store responds: {0}", what);
    leave(thread::join);
  }

  /** Something else that uses the store was left behind. */
  void leave(Left left) {
    leftBehind.add(left);
  }

  private static Thread start(String what, FutureTask<?> task) {
    Thread thread = new Thread(task, what);
    // An agent that stops must not wait for it either.
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static <T> Optional<T> result(FutureTask<T> task) throws InterruptedException {
    try {
      return task.isDone() ? Optional.of(task.get()) : Optional.empty();
    } catch (ExecutionException e) {
      return Optional.empty();
    }
  }

  private void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(TO_END.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.isAlive()) {
      leave(thread::join);
    }
  }

  /** A call and the time of its last progress. */
  private static final class Call<T> implements Callable<T>, Pulse {

    private final Duration silence;
    private final Action<T> action;
    private Duration limit;
    private long until;
    private boolean left;

    Call(Duration silence, Action<T> action) {
      this.silence = silence;
      this.action = action;
      this.limit = silence;
      this.until = System.nanoTime() + silence.toNanos();
    }

    @Override
    public T call() throws Exception {
      return action.run(this);
    }

    @Override
    public synchronized void beat(Duration longer) throws IOException {
      if (left) {
        throw new IOException("the workload was thawed meanwhile");
      }
      Duration allowed = longer.compareTo(silence) > 0 ? longer : silence;
      long end = System.nanoTime() + allowed.toNanos();
      // Another of its threads may need longer, and its report may have been earlier.
      if (end - until > 0) {
        limit = allowed;
        until = end;
      }
    }

    synchronized Duration limit() {
      return limit;
    }

    synchronized long left() {
      return until - System.nanoTime();
    }

    synchronized void leave() {
      left = true;
    }
  }
}
