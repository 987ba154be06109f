package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/**
 * Writes on pods. What the API server refuses comes back in its own words; that it cannot be
 * reached is an exception, and the reconciliation is tried again.
 */
public interface PodWrites {

  /** The pod as the API server has it now; for what a watch may not have seen yet. */
  Optional<Pod> fresh(String namespace, String name);

  /**
   * Sets a condition of the pod. Nothing is written when it is so already; a pod that is gone has
   * none.
   */
  void condition(Pod pod, Mark mark);

  /**
   * Resizes in place.
   *
   * @param resized the pod with its new resources
   * @param dryRun only asks whether it would be accepted
   */
  Answer resize(Pod resized, boolean dryRun);

  /**
   * Removes the pod through the eviction API, so that a PodDisruptionBudget is honoured. While a
   * budget refuses it, the API server is asked after waits that double, from 5 s to 1 min; between
   * them its last answer counts.
   *
   * @param pod the one that is meant: another one of its name stays
   * @param dryRun only asks whether it would be accepted
   */
  Answer evict(Pod pod, boolean dryRun);

  /** What the API server said. */
  sealed interface Answer {}

  /** It is done, or would be. */
  record Accepted() implements Answer {}

  /**
   * It is not.
   *
   * @param sentence in the API server's own words
   * @param later whether it may be accepted later, without anything being changed
   */
  record Refused(String sentence, boolean later) implements Answer {}
}
