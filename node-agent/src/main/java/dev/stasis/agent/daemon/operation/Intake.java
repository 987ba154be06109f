package dev.stasis.agent.daemon.operation;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** One thread on which everything that is heard is considered, one after the other. */
final class Intake {

  private static final System.Logger LOG = System.getLogger(Intake.class.getName());

  /** An API server that is back is noticed within some seconds. */
  private static final Duration LATER = Duration.ofSeconds(3);

  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, daemons("operation-intake"));

  Intake() {
    // What waits for a deadline is the successor's: an agent that goes does not wait for it.
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  static ThreadFactory daemons(String name) {
    return task -> {
      Thread made = new Thread(task, name);
      made.setDaemon(true);
      return made;
    };
  }

  /** A task whose faults are told and end nothing else. */
  static Runnable guarded(Runnable task) {
    return () -> {
      try {
        task.run();
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "an operation could not be considered", e);
      }
    };
  }

  /** Runs it when what came before is done; not any more once closed. */
  void take(Runnable task) {
    try {
      thread.execute(guarded(task));
    } catch (RejectedExecutionException e) {
      LOG.log(System.Logger.Level.DEBUG, "the agent goes: nothing more is considered");
    }
  }

  /** Tries it again, after somebody did not answer. */
  void later(Runnable task) {
    after(LATER, task);
  }

  void after(Duration wait, Runnable task) {
    try {
      var unused =
          thread.schedule(guarded(task), Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.log(System.Logger.Level.DEBUG, "the agent goes: nothing more is considered");
    }
  }

  /**
   * Takes nothing more, and waits for what is in hand.
   *
   * @return whether that came to an end
   */
  boolean close(Duration limit) throws InterruptedException {
    thread.shutdown();
    return thread.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS);
  }
}
