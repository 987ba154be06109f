package dev.stasis.operator.status;

import java.time.Duration;
import java.time.Instant;

/**
 * The polling interval for states without an event: each wait is as long as all waits before it
 * together, so the number of requests grows with the logarithm of the time.
 *
 * @param shortest the first wait
 * @param longest the maximum wait
 */
public record Backoff(Duration shortest, Duration longest) {

  /**
   * The maximum wait while nothing is frozen: a raised quota or a deleted controller is noticed
   * after this time at most, and a waiting request costs less than one API request per minute.
   */
  public static final Duration PATIENT = Duration.ofMinutes(5);

  /**
   * The maximum wait while a workload may be frozen: whatever allows it to run again is noticed
   * after this time at most, at the cost of one API request per minute.
   */
  public static final Duration FROZEN = Duration.ofMinutes(1);

  /**
   * Returns the wait from {@code now}.
   *
   * @param since start of the waiting
   */
  public Duration after(Instant since, Instant now) {
    Duration waited = Duration.between(since, now);
    Duration atLeast = waited.compareTo(shortest) < 0 ? shortest : waited;
    return atLeast.compareTo(longest) > 0 ? longest : atLeast;
  }
}
