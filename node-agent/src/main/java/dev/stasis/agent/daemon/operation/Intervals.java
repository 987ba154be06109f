package dev.stasis.agent.daemon.operation;

import java.time.Duration;

/**
 * Intervals of the agent's retries and waits.
 *
 * @param thaw between attempts to thaw a workload that an operation has left frozen
 * @param statusWrite between attempts to write a status to the API server
 * @param progress minimum between two writes of an operation's progress
 * @param room how long an operation waits until memory is provided
 * @param roomPoll between two reads of the memory limits; the kernel has no event for them
 * @param leftovers between two searches for stages and keepers of workloads that have ended
 */
public record Intervals(
    Backoff thaw,
    Backoff statusWrite,
    Duration progress,
    Duration room,
    Duration roomPoll,
    Duration leftovers) {

  public static Intervals production() {
    return new Intervals(
        // A busy machine or a late helper has often finished after five seconds. After half an hour
        // only an administrator can help; an attempt every ten minutes costs little.
        new Backoff(Duration.ofSeconds(5), Duration.ofMinutes(10)),
        // An API server that is available again is noticed within ten seconds.
        new Backoff(Duration.ofMillis(500), Duration.ofSeconds(10)),
        // Progress is for users; more writes only load the API server.
        Duration.ofSeconds(1),
        // A kubelet resizes a pod within seconds if it can.
        Duration.ofMinutes(2),
        Duration.ofMillis(500),
        // Another freeze may need that host memory; reading the journals takes milliseconds.
        Duration.ofMinutes(1));
  }

  /**
   * Exponential backoff: each wait is twice as long as the one before, up to a maximum.
   *
   * @param first the wait before the first retry
   * @param longest the maximum
   */
  public record Backoff(Duration first, Duration longest) {

    /** Returns the wait that follows {@code wait}. */
    public Duration after(Duration wait) {
      Duration twice = wait.multipliedBy(2);
      return twice.compareTo(longest) > 0 ? longest : twice;
    }
  }
}
