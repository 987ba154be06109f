package dev.stasis.agent.daemon.operation;

import java.time.Duration;

/**
 * How long to wait between attempts: each wait is twice as long as the one before, up to a maximum.
 *
 * @param first the wait before the first further attempt
 * @param longest the maximum
 */
public record Backoff(Duration first, Duration longest) {

  /** Returns the wait that follows {@code wait}. */
  public Duration after(Duration wait) {
    Duration twice = wait.multipliedBy(2);
    return twice.compareTo(longest) > 0 ? longest : twice;
  }
}
