package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import java.util.Objects;
import java.util.Optional;

/** Finds what another operation left frozen, and nothing of another pod. */
final class FrozenBefore {

  private final AgentParts parts;

  FrozenBefore(AgentParts parts) {
    this.parts = parts;
  }

  ThawJob.Named of(Assignment assignment) throws Refused, ApiUnreachable {
    String name = Objects.requireNonNull(assignment.spec().getOfOperation());
    Optional<GpuNodeOperation> found = parts.operations().find(name);
    if (found.isEmpty()) {
      throw new Refused(Faults.of("NotFrozen", "ofOperation", name, "no such operation"));
    }
    GpuNodeOperation of = found.get();
    OperationPod wanted = Objects.requireNonNull(assignment.spec().getPod());
    OperationPod frozen = of.getSpec().getPod();
    if (!parts.nodeName().equals(of.getSpec().getNodeName())
        || frozen == null
        || !frozen.uid().equals(wanted.uid())
        || !frozen.containerName().equals(wanted.containerName())) {
      throw new Refused(
          Faults.of(
              "NotFrozen",
              "pod of " + name,
              wanted.uid() + "/" + wanted.containerName(),
              frozen == null ? "none" : frozen.uid() + "/" + frozen.containerName()));
    }
    String uid = of.getMetadata().getUid();
    Optional<Work> work =
        parts.engine().thaw().inHand().stream().filter(one -> one.id().equals(uid)).findFirst();
    return new ThawJob.Named(name, of.getSpec().getFreeze(), work);
  }
}
