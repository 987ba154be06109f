package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Which GPUs an operation has to itself while it runs. */
final class GpusOfOperation {

  private static final System.Logger LOG = System.getLogger(GpusOfOperation.class.getName());

  private final AgentParts parts;

  GpusOfOperation(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * Returns those of its container, and those that a frozen one will use again; empty when the
   * kubelet did not answer and nothing else is known about them.
   */
  Optional<Set<GpuUuid>> of(Assignment assignment) {
    OperationPod pod = assignment.spec().getPod();
    Set<GpuUuid> all = new HashSet<>();
    if (pod == null) {
      return Optional.of(all);
    }
    boolean answered = true;
    try {
      all.addAll(parts.gpus().of(pod.namespace(), pod.name(), pod.containerName()).gpus());
    } catch (NodeApiException e) {
      answered = false;
      LOG.log(System.Logger.Level.WARNING, "GPUs of {0}: {1}", assignment.name(), e.getMessage());
    }
    String container = assignment.report().copy().getContainerId();
    for (Work work : parts.engine().thaw().inHand()) {
      if (work.containerId().equals(container) || work.id().equals(assignment.uid())) {
        work.cuda().forEach(process -> all.addAll(process.deviceBytes().keySet()));
      }
    }
    return answered || !all.isEmpty() ? Optional.of(all) : Optional.empty();
  }
}
