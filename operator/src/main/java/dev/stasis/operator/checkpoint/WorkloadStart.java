package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/** Reports when the workload started: from it follows how much work an artifact has. */
final class WorkloadStart {

  /** Reports it, while the pod still exists. */
  void report(CheckpointContext context) {
    if (context.status().getWorkloadStartTime() == null) {
      Optional<ContainerStatus> container = context.container();
      container
          .flatMap(it -> beforeRestore(context, it))
          .or(() -> container.flatMap(WorkloadStart::ofContainer))
          .ifPresent(context.status()::setWorkloadStartTime);
    }
  }

  /**
   * Returns when the workload of a restored pod started. A container that restarts begins again.
   */
  private static Optional<Instant> beforeRestore(
      CheckpointContext context, ContainerStatus container) {
    return Objects.requireNonNullElse(container.getRestartCount(), 0) > 0
        ? Optional.empty()
        : context
            .pod()
            .map(pod -> pod.getMetadata().getLabels())
            .map(labels -> labels.get(Api.CHECKPOINT_LABEL))
            .flatMap(name -> context.cluster().checkpoint(context.namespace(), name))
            .map(GpuCheckpoint::getStatus)
            .map(GpuCheckpointStatus::getWorkloadStartTime);
  }

  private static Optional<Instant> ofContainer(ContainerStatus container) {
    return Optional.ofNullable(container.getState())
        .map(ContainerState::getRunning)
        .map(ContainerStateRunning::getStartedAt)
        .map(Instant::parse);
  }
}
