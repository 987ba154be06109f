package dev.stasis.operator.eviction;

import java.time.Instant;

/** The answer to a request to evict a pod. */
sealed interface EvictionDecision {

  /** The pod is not protected. */
  record Ignore() implements EvictionDecision {}

  /**
   * A checkpoint is started, and the eviction is refused for now.
   *
   * @param number number of the attempt
   * @param since time of the first eviction request
   */
  record Begin(int number, Instant since) implements EvictionDecision {}

  /** The eviction is refused for now; the attempt records that it was requested. */
  record Hold(EvictionAttempt attempt, String sentence) implements EvictionDecision {}

  /** The artifact is verified and the workload is frozen: the pod may be evicted. */
  record Allow(EvictionAttempt attempt) implements EvictionDecision {}

  /**
   * The deadline passed: the pod is evicted without a checkpoint.
   *
   * @param occasion key by which this is reported only once
   */
  record AllowUnsaved(String occasion, String sentence) implements EvictionDecision {}
}
