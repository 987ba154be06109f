package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Puts into orders what a GpuCheckpoint asks for. */
final class Orders {

  /**
   * For what brings a workload back or ends it. Never cut short by its object's deadline: it is
   * what has to be done then. The longest that was seen is 100 s for 140 GB on a busy H200.
   */
  private static final TimeSpan WAY_BACK = TimeSpan.of("30m");

  /**
   * A store may be unreachable for long; whoever waits for the upload has a deadline of its own.
   */
  private static final TimeSpan UPLOAD = TimeSpan.of("24h");

  /** At 50 MiB a second a day is enough for 4 TiB. */
  private static final TimeSpan VERIFICATION = TimeSpan.of("24h");

  private final Operations operations;

  Orders(Operations operations) {
    this.operations = operations;
  }

  /** The freeze itself. */
  GpuNodeOperation freeze(Turn turn, Frozen frozen, Validation.Admitted admitted) {
    GpuCheckpointSpec spec = turn.spec();
    FreezeOrder freeze = new FreezeOrder();
    freeze.setLockTimeout(spec.getOptions().getLockTimeout());
    freeze.setTcpConnections(spec.getOptions().getTcpConnections());
    freeze.setHooks(spec.getOptions().getHooks());
    freeze.setProbePolicy(spec.getOptions().getProbePolicy());
    freeze.setMemoryLimitPolicy(spec.getOptions().getMemoryLimitPolicy());
    freeze.setSidecarPolicy(spec.getOptions().getSidecarPolicy());
    freeze.setSharing(spec.getOptions().getSharing());
    freeze.setDryRun(spec.getOptions().getDryRun());
    freeze.setAfterwards(afterwards(spec.getAfterCheckpoint()));
    freeze.setRequireRestorable(spec.getOptions().getRequireRestorable());
    admitted.maxFrozen().ifPresent(longest -> freeze.setMaxFrozen(span(longest)));
    GpuNodeOperationSpec order = new GpuNodeOperationSpec();
    order.setType(frozen.type());
    order.setNodeName(admitted.node());
    order.setPod(
        new OperationPod(
            turn.namespace(),
            admitted.pod().getMetadata().getName(),
            admitted.pod().getMetadata().getUid(),
            admitted.container()));
    order.setDeadline(left(turn, frozen));
    if (!spec.getOptions().getDryRun()) {
      freeze.setPodTemplate(turn.status().getPodTemplate());
    }
    if (frozen.writes()) {
      freeze.setNamespaceUid(Validation.namespace(turn).getMetadata().getUid());
      order.setArtifact(
          new ArtifactReference(
              admitted.store().orElseThrow().getMetadata().getName(),
              location(turn),
              turn.namespace(),
              turn.uid(),
              null));
    }
    order.setFreeze(freeze);
    return operations.draft(turn.self(), frozen.number(), order);
  }

  /** The check of an artifact that lies in the store already. */
  GpuNodeOperation importing(Turn turn, ImportSource from, String store, String node) {
    GpuNodeOperationSpec order = new GpuNodeOperationSpec();
    order.setType(OperationType.IMPORT);
    order.setNodeName(node);
    order.setArtifact(
        new ArtifactReference(store, from.location(), turn.namespace(), turn.uid(), from.sha256()));
    order.setExpected(
        new ExpectedWorkload(
            turn.spec().podName(),
            turn.spec().getOptions().getContainerName(),
            Validation.namespace(turn).getMetadata().getUid()));
    order.setDeadline(span(Duration.between(turn.now(), turn.deadline())));
    return operations.draft(turn.self(), 1, order);
  }

  /** Brings back, or ends, what that freeze has left. */
  GpuNodeOperation of(Turn turn, OperationType type, Frozen left) {
    ObservedPod pod = Objects.requireNonNull(turn.status().getPod(), "it was frozen");
    GpuNodeOperationSpec order = new GpuNodeOperationSpec();
    order.setType(type);
    order.setNodeName(Objects.requireNonNull(pod.node(), "it was frozen there"));
    order.setPod(
        new OperationPod(
            turn.namespace(),
            pod.name(),
            Objects.requireNonNull(pod.uid(), "it was frozen"),
            Objects.requireNonNull(pod.container(), "it was frozen")));
    order.setOfOperation(left.name(turn));
    order.setDeadline(WAY_BACK);
    return operations.draft(turn.self(), left.number(), order);
  }

  /** Uploads the artifact from the node whose disk holds it. */
  GpuNodeOperation upload(Turn turn, ArtifactStatus artifact) {
    GpuNodeOperationSpec order = new GpuNodeOperationSpec();
    order.setType(OperationType.UPLOAD);
    order.setNodeName(Objects.requireNonNull(artifact.getNode(), "it is on a node"));
    order.setArtifact(reference(turn, artifact));
    order.setDeadline(UPLOAD);
    return operations.draft(turn.self(), 1, order);
  }

  /** Verifies the artifact in its store, by the agent of that node. */
  GpuNodeOperation verify(Turn turn, ArtifactStatus artifact, String node) {
    GpuNodeOperationSpec order = new GpuNodeOperationSpec();
    order.setType(OperationType.VERIFY);
    order.setNodeName(node);
    order.setArtifact(reference(turn, artifact));
    order.setDeadline(VERIFICATION);
    return operations.draft(turn.self(), 1, order);
  }

  /** Deletes the artifact, by the agent of that node. */
  GpuNodeOperation delete(Turn turn, ArtifactStatus artifact, String node) {
    GpuNodeOperationSpec order = new GpuNodeOperationSpec();
    order.setType(OperationType.DELETE_ARTIFACT);
    order.setNodeName(node);
    order.setArtifact(reference(turn, artifact));
    order.setDeadline(WAY_BACK);
    return operations.draft(turn.self(), 1, order);
  }

  private static ArtifactReference reference(Turn turn, ArtifactStatus artifact) {
    return new ArtifactReference(
        Objects.requireNonNull(artifact.getStore(), "an artifact has a store"),
        Objects.requireNonNullElseGet(artifact.getLocation(), () -> location(turn)),
        turn.namespace(),
        Objects.requireNonNullElse(artifact.getUid(), turn.uid()),
        artifact.getSha256(),
        artifact.getDurability() == null
            ? null
            : Validation.namespace(turn).getMetadata().getUid());
  }

  /** Below the root of the store; the uid keeps two objects of one name apart. */
  static String location(Turn turn) {
    return turn.namespace() + "/" + turn.object().getMetadata().getName() + "-" + turn.uid();
  }

  /** The pod of an order that was given. */
  static @Nullable ObservedPod pod(OperationView view) {
    OperationPod pod = view.operation().getSpec().getPod();
    return pod == null
        ? null
        : new ObservedPod(
            pod.name(), pod.uid(), pod.containerName(), view.operation().getSpec().getNodeName());
  }

  /** The pod as it was before it was touched. */
  static @Nullable Map<String, Object> template(OperationView view) {
    FreezeOrder freeze = view.operation().getSpec().getFreeze();
    return freeze == null ? null : freeze.getPodTemplate();
  }

  private static Afterwards afterwards(AfterCheckpoint after) {
    return switch (after) {
      case RESUME -> Afterwards.RESUME;
      case SUSPEND -> Afterwards.SUSPEND;
      case EVICT -> Afterwards.HOLD;
      case UNRECOGNIZED -> throw new IllegalArgumentException("afterCheckpoint: " + after);
    };
  }

  /** What is left of the object's deadline; a later suspension has one of its own. */
  private static TimeSpan left(Turn turn, Frozen frozen) {
    Duration whole = turn.spec().getOptions().getDeadline().duration();
    Instant from = frozen.number() == 1 ? turn.created() : turn.now();
    Duration left = Duration.between(turn.now(), from.plus(whole));
    return span(left);
  }

  private static TimeSpan span(Duration duration) {
    return TimeSpan.of(Math.max(1, duration.toSeconds()) + "s");
  }
}
