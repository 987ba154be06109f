package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.process.DaemonThreads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Handles events of the API server and timers on one thread, one after the other. */
final class OperationEventLoop {

  private static final System.Logger LOG = System.getLogger(OperationEventLoop.class.getName());

  /** The return of an API server is noticed within some seconds. */
  private static final Duration LATER = Duration.ofSeconds(3);

  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, new DaemonThreads("operation-intake"));

  OperationEventLoop() {
    // Timers are for the successor: a stopping agent does not wait for them.
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /** Returns a task that logs its exceptions, so that they end nothing else. */
  static Runnable guarded(Runnable task) {
    return () -> {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.log(Level.ERROR, "cannot process an operation", e);
      }
    };
  }

  /** Runs a task after those before it; none after the close. */
  void take(Runnable task) {
    after(Duration.ZERO, task);
  }

  /** Retries a task after a request that was not answered. */
  void later(Runnable task) {
    after(LATER, task);
  }

  /** Runs a task on the calling thread, and again later until it throws nothing. */
  void untilDone(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "cannot process an operation yet", e);
      later(() -> untilDone(task));
    }
  }

  void after(Duration wait, Runnable task) {
    try {
      var unused =
          thread.schedule(guarded(task), Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.log(Level.DEBUG, "the agent is stopping: no more events are processed");
    }
  }

  /**
   * Accepts no more tasks, and waits for the running ones.
   *
   * @return whether they ended
   */
  boolean close(Duration limit) throws InterruptedException {
    thread.shutdown();
    return thread.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS);
  }
}
