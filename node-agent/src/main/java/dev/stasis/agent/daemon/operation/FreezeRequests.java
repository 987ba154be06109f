package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodMount;
import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.api.v1alpha1.common.DataPath;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.artifact.Durability;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Makes the engine's request of an operation that freezes. */
final class FreezeRequests {

  /** The file of an artifact that holds the pod as it was. */
  static final String POD_FILE = "pod.json";

  private final AgentParts parts;
  private final OperationJson json = new OperationJson();

  FreezeRequests(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * What the engine is asked.
   *
   * @param nodeLocal whether the store is this node's alone
   */
  record Made(CheckpointRequest request, boolean nodeLocal) {

    /** The same with one more file in the artifact. */
    Made with(String file, String text) {
      Map<String, String> all = new HashMap<>(request.attachments());
      all.put(file, text);
      return new Made(
          new CheckpointRequest(
              request.id(),
              request.name(),
              request.owner(),
              request.namespace(),
              request.namespaceUid(),
              request.container(),
              request.store(),
              request.after(),
              request.options(),
              request.image(),
              request.packedMounts(),
              request.podMounts(),
              request.requester(),
              all),
          nodeLocal);
    }
  }

  /** With the store that the operation names, where it names one. */
  Made of(Assignment assignment, PodLookup.Place place) throws Refused, ApiUnreachable {
    ArtifactReference artifact = assignment.spec().getArtifact();
    if (artifact == null) {
      return new Made(withoutStore(assignment, place), false);
    }
    String namespace = Objects.requireNonNull(assignment.spec().getPod()).namespace();
    ArtifactPlace where = new ArtifactPlaces(parts.stores()).of(artifact, namespace);
    try {
      where.makeFolder();
      return new Made(request(assignment, place, where, artifact), where.nodeLocal());
    } catch (IOException e) {
      throw new Refused(
          Faults.of(
              "StoreNotWritable",
              "store " + artifact.store(),
              "a folder that can be written",
              String.valueOf(e.getMessage())));
    }
  }

  /** A freeze in memory. */
  CheckpointRequest withoutStore(Assignment assignment, PodLookup.Place place) {
    return request(assignment, place, null, null, After.SUSPEND, Map.of());
  }

  private CheckpointRequest request(
      Assignment assignment, PodLookup.Place place, ArtifactPlace where, ArtifactReference artifact)
      throws IOException {
    FreezeOrder order = Objects.requireNonNull(assignment.spec().getFreeze());
    After after =
        switch (order.getAfterwards()) {
          case RESUME -> After.RESUME;
          case SUSPEND -> After.SUSPEND;
          case HOLD -> After.EVICT;
        };
    Map<String, Object> template = order.getPodTemplate();
    return request(
        assignment,
        place,
        where,
        artifact,
        after,
        template == null ? Map.of() : Map.of(POD_FILE, json.text(template)));
  }

  private CheckpointRequest request(
      Assignment assignment,
      PodLookup.Place place,
      @org.jspecify.annotations.Nullable ArtifactPlace where,
      @org.jspecify.annotations.Nullable ArtifactReference artifact,
      After after,
      Map<String, String> attachments) {
    FreezeOrder order = Objects.requireNonNull(assignment.spec().getFreeze());
    PodContainer container = place.container();
    return new CheckpointRequest(
        assignment.uid(),
        where == null ? assignment.uid() : where.name(),
        assignment.owner(),
        container.namespace(),
        order.getNamespaceUid(),
        container.id(),
        where == null ? null : where.folder(),
        after,
        options(order),
        new CheckpointRequest.ImageName(container.image().name(), container.image().portableName()),
        new WorkloadVolumes(container).packed(),
        container.mounts().stream().map(PodMount::containerPath).collect(Collectors.toSet()),
        artifact == null ? null : artifact.uid(),
        attachments);
  }

  private CheckpointRequest.Options options(FreezeOrder order) {
    CheckpointRequest.Options usual = CheckpointRequest.Options.defaults();
    return new CheckpointRequest.Options(
        order.getLockTimeout().duration(),
        usual.stagePlace(),
        order.getDataPath() == DataPath.CRIU
            ? CheckpointRequest.DataPathChoice.CRIU
            : CheckpointRequest.DataPathChoice.MOVER,
        order.getTcp() == dev.stasis.api.v1alpha1.common.Tcp.KEEP
            ? CheckpointRequest.Tcp.KEEP
            : CheckpointRequest.Tcp.CLOSE,
        parts.hugePages(),
        usual.allowPeerToPeer(),
        usual.threads(),
        // The workload stands still meanwhile, with all of its memory, and the target is filled
        // from
        // the same pages: only the end of this machine would need the disk, and ends both.
        Boolean.TRUE.equals(order.getHeldUntilDecided()) ? Durability.LATER : usual.durability(),
        order.getRequireRestorable());
  }
}
