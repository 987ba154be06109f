package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Optional;

/**
 * Whether a pod is being deleted. A workload that is ended before that is started anew by the
 * kubelet, cold, so nobody's word is taken for it but the API server's.
 */
final class DeletedPod {

  private final AgentParts parts;

  DeletedPod(AgentParts parts) {
    this.parts = parts;
  }

  /** Refuses an End that comes too early. */
  void require(GpuNodeOperationSpec spec) throws Refused, ApiUnreachable {
    if (!of(Objects.requireNonNull(spec.getPod()))) {
      throw new Refused(
          Faults.of("PodNotDeleted", "pod.metadata.deletionTimestamp", "a time", "none"));
    }
  }

  /** Whether it is, or is gone, or another one has its name. */
  boolean of(OperationPod wanted) throws ApiUnreachable {
    Optional<Pod> found = parts.pods().find(wanted.namespace(), wanted.name());
    return found.isEmpty()
        || !wanted.uid().equals(found.get().getMetadata().getUid())
        || found.get().getMetadata().getDeletionTimestamp() != null;
  }
}
