package dev.stasis.agent.daemon;

import dev.stasis.agent.daemon.operation.Intervals;
import dev.stasis.agent.process.DaemonThreads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Takes over the work that a predecessor left, and retries until it succeeds: frozen workloads stay
 * frozen until then.
 */
final class TakeUp implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(TakeUp.class.getName());

  private final Attempt attempt;
  private final Intervals.Backoff backoff;
  private final AtomicReference<@Nullable String> trouble =
      new AtomicReference<>(
          "operations: expected those of the previous agent to be recovered, got none yet");
  // A predecessor may still be ending, and the undo of its work may take a while.
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("operations-start"));

  TakeUp(Attempt attempt, Intervals.Backoff backoff) {
    this.attempt = attempt;
    this.backoff = backoff;
  }

  /** One attempt; it may follow one that failed in the middle. */
  @FunctionalInterface
  interface Attempt {
    void run() throws InterruptedException;
  }

  void start() {
    thread.execute(() -> attempt(backoff.first()));
  }

  private void attempt(Duration next) {
    try {
      attempt.run();
      trouble.set(null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "Operations could not be recovered; retrying in " + next, e);
      trouble.set("earlier operations could not be recovered: " + e.getMessage());
      var unused =
          thread.schedule(
              () -> attempt(backoff.after(next)), next.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Returns why the agent is not ready to work; empty once it has taken over everything. */
  Optional<String> trouble() {
    return Optional.ofNullable(trouble.get());
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
