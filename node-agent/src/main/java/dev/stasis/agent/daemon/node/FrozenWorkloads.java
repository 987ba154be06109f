package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.engine.CudaProcess;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.engine.WorkJournal;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The frozen workloads of this node: the engine's journal, with the pods known to the runtime. */
final class FrozenWorkloads {

  private final WorkJournal journal;
  private final PodContainers containers;
  private final Requesters requesters;

  FrozenWorkloads(WorkJournal journal, PodContainers containers, Requesters requesters) {
    this.journal = journal;
    this.containers = containers;
    this.requesters = requesters;
  }

  /** Returns all of them, oldest first, without those whose container is gone. */
  List<FrozenWorkload> list(String bootId) throws NodeApiException {
    List<FrozenWorkload> frozen = new ArrayList<>();
    for (Work work : journal.all()) {
      if (work.kind() == Work.Kind.FREEZE
          && work.phase() != Work.Phase.PUBLISHING
          && (work.bootId().equals(bootId) || work.phase() == Work.Phase.UNKNOWN)) {
        Optional<PodContainer> container = containers.byId(work.containerId());
        container.ifPresent(found -> frozen.add(frozen(work, found)));
      }
    }
    return frozen;
  }

  private FrozenWorkload frozen(Work work, PodContainer container) {
    return new FrozenWorkload(
        new ObjectReference("Pod", container.namespace(), container.pod(), container.podUid()),
        container.name(),
        work.since(),
        requesters.of(work).orElse(null),
        switch (work.phase()) {
          case SUSPENDED -> "Suspended";
          case UNKNOWN -> "Unknown";
          default -> "Frozen";
        },
        work.cuda().stream()
            .flatMap(process -> process.deviceBytes().keySet().stream())
            .map(GpuUuid::text)
            .distinct()
            .sorted()
            .toList(),
        work.cuda().stream().mapToLong(CudaProcess::totalBytes).sum());
  }

  /** Finds the object for which an operation runs. */
  @FunctionalInterface
  interface Requesters {
    Optional<ObjectReference> of(Work work);
  }
}
