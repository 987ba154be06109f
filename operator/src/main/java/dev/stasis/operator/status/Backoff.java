package dev.stasis.operator.status;

import java.time.Duration;
import java.time.Instant;

/**
 * How often something is observed that reports no change by itself: each wait is as long as all
 * waits before it together, so the number of requests grows with the logarithm of the time.
 *
 * @param shortest the first wait
 * @param longest no wait is longer
 */
public record Backoff(Duration shortest, Duration longest) {

  /**
   * The longest wait where nothing is frozen: a quota that was raised or a controller that was
   * deleted is noticed this late at most, and a request that waits costs less than one request a
   * minute.
   */
  public static final Duration PATIENT = Duration.ofMinutes(5);

  /**
   * Returns how long to wait from {@code now}.
   *
   * @param since when it began to wait
   */
  public Duration after(Instant since, Instant now) {
    Duration waited = Duration.between(since, now);
    Duration atLeast = waited.compareTo(shortest) < 0 ? shortest : waited;
    return atLeast.compareTo(longest) > 0 ? longest : atLeast;
  }
}
