package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Sharing;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.store.StoreException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Converts an operation to the engine's request for a freeze. */
final class FreezeRequests {

  /** The artifact's file with the pod at the freeze. */
  static final String POD_FILE = "pod.json";

  private final AgentParts parts;
  private final OperationJson json = new OperationJson();

  FreezeRequests(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * Creates the engine's request.
   *
   * @param place the future location of its artifact; null if none is written
   */
  record Made(CheckpointRequest request, @Nullable ArtifactPlace place) {

    /** Returns a copy with one more file in the artifact. */
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
          place);
    }
  }

  /** With the operation's store, if it names one. */
  Made of(ActiveOperation operation, PodLookup.Place place) throws Refused, ApiUnreachable {
    ArtifactReference artifact = operation.spec().getArtifact();
    if (artifact == null) {
      return new Made(withoutStore(operation, place), null);
    }
    String namespace = operation.pod().namespace();
    ArtifactPlace where = ArtifactPlace.of(parts.cluster(), artifact, namespace);
    requireKeys(where);
    try {
      where.createFolder();
      FreezeOrder order = Objects.requireNonNull(operation.spec().getFreeze());
      Map<String, Object> template = order.getPodTemplate();
      return new Made(
          request(
              operation,
              place,
              where,
              artifact,
              after(order),
              template == null ? Map.of() : Map.of(POD_FILE, json.text(template))),
          where);
    } catch (IOException e) {
      throw new Refused(
          "StoreNotWritable",
          "store " + artifact.store(),
          "a folder that can be written",
          String.valueOf(e.getMessage()));
    }
  }

  /** A workload is not frozen for an artifact that cannot be stored. */
  private static void requireKeys(ArtifactPlace where) throws Refused {
    ClusterApi.RemotePlace remote = where.remote();
    if (remote == null) {
      return;
    }
    try {
      remote.keys().require();
    } catch (StoreException e) {
      throw new Refused(
          "Store" + e.reason(),
          "store " + where.reference().store(),
          "a key for its encryption",
          String.valueOf(e.getMessage()));
    }
  }

  /** A freeze in memory. */
  CheckpointRequest withoutStore(ActiveOperation operation, PodLookup.Place place) {
    return request(operation, place, null, null, After.SUSPEND, Map.of());
  }

  private static After after(FreezeOrder order) {
    return switch (order.getAfterwards()) {
      case RESUME -> After.RESUME;
      case SUSPEND -> After.SUSPEND;
      case HOLD -> After.EVICT;
      case UNRECOGNIZED -> throw new IllegalArgumentException("afterwards: " + order);
    };
  }

  private CheckpointRequest request(
      ActiveOperation operation,
      PodLookup.Place place,
      @Nullable ArtifactPlace where,
      @Nullable ArtifactReference artifact,
      After after,
      Map<String, String> attachments) {
    FreezeOrder order = Objects.requireNonNull(operation.spec().getFreeze());
    PodContainer container = place.container();
    return new CheckpointRequest(
        operation.uid(),
        where == null ? operation.uid() : where.name(),
        operation.owner(),
        container.namespace(),
        order.getNamespaceUid(),
        container.id(),
        where == null ? null : where.folder(),
        after,
        options(order),
        new CheckpointRequest.ImageName(container.image().name(), container.image().portableName()),
        new WorkloadVolumes(container).packed(),
        new SubPaths(place.pod(), container, place.process().env()).byMountPoint(),
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
        order.getTcpConnections() == dev.stasis.api.v1beta1.common.TcpConnections.RESTORE
            ? CheckpointRequest.Tcp.KEEP
            : CheckpointRequest.Tcp.CLOSE,
        parts.hugePages(),
        order.getSharing() == Sharing.NONE,
        usual.threads(),
        order.getHeldUntilDecided(),
        order.getRequireRestorable());
  }
}
