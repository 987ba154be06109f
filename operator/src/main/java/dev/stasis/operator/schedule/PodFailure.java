package dev.stasis.operator.schedule;

import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;

/**
 * A pod that ended, or had a container restart, without a request of its user.
 *
 * @param pod the pod, or its last state
 * @param time time of the failure, or of its observation; a checkpoint of a later state shows that
 *     the pod has survived it
 * @param earliest since when the pod may have failed; the time of the failure if that is known. A
 *     restore that was requested later may be the one of this failure
 * @param sentence the reason as a sentence, with the observations
 */
record PodFailure(Pod pod, Instant time, Instant earliest, Reason reason, String sentence) {

  /** A failure at a known time. */
  PodFailure(Pod pod, Instant time, Reason reason, String sentence) {
    this(pod, time, time, reason, sentence);
  }

  String podName() {
    return pod.getMetadata().getName();
  }

  String podUid() {
    return pod.getMetadata().getUid();
  }
}
