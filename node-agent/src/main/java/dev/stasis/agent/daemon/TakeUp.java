package dev.stasis.agent.daemon;

import dev.stasis.agent.daemon.operation.Backoff;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Takes up the work that a predecessor left, and retries until it succeeds: what is frozen stays
 * frozen until then.
 */
final class TakeUp implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(TakeUp.class.getName());

  private final Attempt attempt;
  private final Backoff backoff;
  private final AtomicReference<@Nullable String> trouble =
      new AtomicReference<>("operations: expected those of the predecessor taken up, got none yet");
  // A predecessor may still be ending, and what it left may take a while to be undone.
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "operations-start");
            made.setDaemon(true);
            return made;
          });

  TakeUp(Attempt attempt, Backoff backoff) {
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
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "operations are not taken up; tried again in " + next, e);
      trouble.set("operations of before are not taken up: " + e.getMessage());
      var unused =
          thread.schedule(
              () -> attempt(backoff.after(next)), next.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** Why the agent is not ready to work; empty once it has taken up everything. */
  Optional<String> trouble() {
    return Optional.ofNullable(trouble.get());
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
