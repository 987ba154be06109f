package dev.stasis.operator.eviction;

import java.time.Instant;

/** What follows from a request to evict a pod. */
sealed interface Answer {

  /** It is no business of ours. */
  record Pass() implements Answer {}

  /**
   * An attempt to save it is begun, and the eviction is held.
   *
   * @param number of the attempt
   * @param since when the eviction was first asked for
   */
  record Begin(int number, Instant since) implements Answer {}

  /** It is held; the attempt is told that it was asked for. */
  record Hold(Attempt attempt, String sentence) implements Answer {}

  /** The artifact is safe and the workload stands still: the pod may go. */
  record LetGo(Attempt attempt) implements Answer {}

  /**
   * It was held long enough: the pod is evicted as it would have been without Stasis.
   *
   * @param occasion under which this is reported once
   */
  record GiveWay(String occasion, String sentence) implements Answer {}
}
