package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.operator.pod.PodState;
import java.util.Optional;

/** Reports when the workload started: from it follows how much work an artifact has. */
final class WorkloadStart {

  /** Reports it, while the pod still exists. */
  void report(CheckpointContext context) {
    if (context.status().getWorkloadStartTime() == null) {
      Optional.ofNullable(context.status().getPod())
          .map(ObservedPod::container)
          .flatMap(name -> context.pod().flatMap(pod -> new PodState(pod).workloadStart(name)))
          .ifPresent(context.status()::setWorkloadStartTime);
    }
  }
}
