package dev.stasis.agent.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A part of an operation that runs in parallel to its next steps. */
final class Beside {

  /** The work. */
  interface Action {
    void run() throws StepFailure, InterruptedException;
  }

  /** A mover is given 10 s to end, and everything else is interrupted at once. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final FutureTask<Void> task;
  private final Thread thread;

  private Beside(String name, FutureTask<Void> task) {
    this.task = task;
    this.thread = new Thread(task, name);
  }

  static Beside start(String name, Action action) {
    Beside beside =
        new Beside(
            name,
            new FutureTask<>(
                () -> {
                  action.run();
                  return null;
                }));
    beside.thread.setDaemon(true);
    beside.thread.start();
    return beside;
  }

  /** Waits for its end, which its own deadlines guarantee. */
  void await() throws StepFailure, InterruptedException {
    try {
      task.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof StepFailure known
          ? known
          : new StepFailure(Reason.INTERNAL, String.valueOf(e.getCause()), e);
    }
  }

  /**
   * Ends it, and waits until its children have ended.
   *
   * @return its thread if it has not ended: it waits for a disk, and ends once the disk responds
   */
  Optional<Thread> cancel() throws InterruptedException {
    thread.interrupt();
    thread.join(LIMIT.toMillis());
    return thread.isAlive() ? Optional.of(thread) : Optional.empty();
  }
}
