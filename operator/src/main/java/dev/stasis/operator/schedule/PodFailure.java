package dev.stasis.operator.schedule;

import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;

/**
 * A pod that ended, or had a container restart, without a request of its user.
 *
 * @param pod the pod, or its last state
 * @param time time of the failure; a checkpoint of a later state shows that the pod has survived it
 * @param sentence the reason as a sentence, with the observations
 */
record PodFailure(Pod pod, Instant time, Reason reason, String sentence) {

  String podName() {
    return pod.getMetadata().getName();
  }

  String podUid() {
    return pod.getMetadata().getUid();
  }
}
