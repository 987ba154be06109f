package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes pods. A refusal of the API server is returned with its message. If the API server cannot
 * be reached, an exception is thrown and the reconciliation is retried.
 */
public interface PodWrites {

  /** Reads the pod from the API server, because a watch may not have seen it yet. */
  Optional<Pod> fresh(String namespace, String name);

  /**
   * The same for the pod with that uid. A missing one is gone permanently and is not read again.
   */
  default Optional<Pod> fresh(String namespace, String name, @Nullable String uid) {
    return fresh(namespace, name).filter(pod -> Objects.equals(uid, pod.getMetadata().getUid()));
  }

  /**
   * Sets a condition of the pod. Nothing is written if it already has that value, or the pod is
   * gone.
   */
  void condition(Pod pod, PodConditionUpdate mark);

  /**
   * Resizes in place. The same resize of a pod is repeated after intervals that double, from 5 s to
   * 1 min, as long as no other one is requested for that pod, because a kubelet may defer it.
   *
   * @param resized the pod with its new resources
   * @param dryRun only tests whether it would be accepted
   */
  Answer resize(Pod resized, boolean dryRun);

  /**
   * Removes the pod through the eviction API, which respects PodDisruptionBudgets. While a budget
   * refuses, the API server is called after intervals that double, from 5 s to 1 min; in between
   * its last answer is returned.
   *
   * @param pod the pod; another pod with its name is not removed
   * @param dryRun only tests whether it would be accepted
   */
  Answer evict(Pod pod, boolean dryRun);

  /** The API server's answer. */
  sealed interface Answer {}

  /** The request succeeded, or would succeed. */
  record Accepted() implements Answer {}

  /**
   * The request was refused.
   *
   * @param sentence the API server's message
   * @param later whether it may be accepted later without a change of the request
   */
  record Refused(String sentence, boolean later) implements Answer {}
}
