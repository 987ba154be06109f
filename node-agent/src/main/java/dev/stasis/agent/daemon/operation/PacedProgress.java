package dev.stasis.agent.daemon.operation;

import dev.stasis.artifact.Progress;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Slows reading down to a rate: each report of progress waits until as many bytes may have been
 * read. A cancellation ends the wait.
 */
final class PacedProgress implements Progress {

  /** A wait ends at least this often, so that a deadline is noticed. */
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

  private final Progress next;
  private final ActiveOperation operation;
  private final long bytesPerSecond;
  private final LongSupplier nanoTime;
  private final long began;

  /**
   * @param next receives all progress, and ends the work of a cancelled operation
   * @param bytesPerSecond the rate, at least 1
   */
  PacedProgress(
      Progress next, ActiveOperation operation, long bytesPerSecond, LongSupplier nanoTime) {
    this.next = next;
    this.operation = operation;
    this.bytesPerSecond = bytesPerSecond;
    this.nanoTime = nanoTime;
    this.began = nanoTime.getAsLong();
  }

  @Override
  public void at(long done, long total) {
    next.at(done, total);
    for (Duration left = left(done); !left.isZero(); left = left(done)) {
      try {
        operation.awaitCancel(left.compareTo(LONGEST_WAIT) < 0 ? left : LONGEST_WAIT);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      next.at(done, total);
    }
  }

  /** Returns the time until that many bytes may have been read. */
  private Duration left(long done) {
    double seconds = (double) done / bytesPerSecond;
    long nanos = (long) (seconds * 1e9) - (nanoTime.getAsLong() - began);
    return nanos < 1_000_000 ? Duration.ZERO : Duration.ofNanos(nanos);
  }
}
