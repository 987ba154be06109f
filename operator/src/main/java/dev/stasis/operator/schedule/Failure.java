package dev.stasis.operator.schedule;

import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;

/**
 * A pod did not end as its user wanted.
 *
 * @param pod as it is, or as it last was
 * @param time when; what was checkpointed later has it behind it
 * @param reason what it was, in one word
 * @param sentence the same, with what was seen
 */
record Failure(Pod pod, Instant time, Reason reason, String sentence) {

  String podName() {
    return pod.getMetadata().getName();
  }

  String podUid() {
    return pod.getMetadata().getUid();
  }
}
