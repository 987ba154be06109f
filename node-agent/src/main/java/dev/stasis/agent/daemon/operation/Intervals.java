package dev.stasis.agent.daemon.operation;

import java.time.Duration;

/**
 * How often and for how long the agent retries and waits.
 *
 * @param thaw between attempts to thaw a workload that an operation has left frozen
 * @param statusWrite between attempts to write a status to the API server
 * @param progress the shortest time between two writes of an operation's progress
 * @param room how long an operation waits for memory to be made available
 * @param roomPoll between two looks at the memory limits; the kernel reports no change of them
 */
public record Intervals(
    Backoff thaw, Backoff statusWrite, Duration progress, Duration room, Duration roomPoll) {

  /** Returns the intervals of an agent in production. */
  public static Intervals production() {
    return new Intervals(
        // A busy machine or a late helper is often over after five seconds. After half an hour
        // only an administrator can help; an attempt every ten minutes costs little.
        new Backoff(Duration.ofSeconds(5), Duration.ofMinutes(10)),
        // An API server that is available again is noticed within ten seconds.
        new Backoff(Duration.ofMillis(500), Duration.ofSeconds(10)),
        // Progress is for people; more writes only load the API server.
        Duration.ofSeconds(1),
        // A kubelet resizes a pod within seconds where it can.
        Duration.ofMinutes(2),
        Duration.ofMillis(500));
  }
}
