package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Peer;
import dev.stasis.api.v1beta1.operation.RestoreOrder;
import dev.stasis.api.v1beta1.operation.TransferOrder;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The specs of the agents' operations. */
final class Orders {

  private final Template template;

  Orders(Template template) {
    this.template = template;
  }

  /** Inspects the source; the operation keeps the current pod, before it is resized. */
  GpuNodeOperationSpec look(MigrationContext view, Check.Admitted source) {
    FreezeOrder freeze = freezeOrder(view, source);
    freeze.setDryRun(true);
    freeze.setPodTemplate(template.of(source.pod()));
    GpuNodeOperationSpec spec = ofSource(view, source);
    spec.setFreeze(freeze);
    return spec;
  }

  /** Freezes the source, and keeps it frozen until it is decided which copy survives. */
  GpuNodeOperationSpec freeze(MigrationContext view, Check.Admitted source) {
    FreezeOrder freeze = freezeOrder(view, source);
    freeze.setAfterwards(Afterwards.HOLD);
    freeze.setHeldUntilDecided(true);
    freeze.setPodTemplate(view.work().template().orElseGet(() -> template.of(source.pod())));
    GpuNodeOperationSpec spec = ofSource(view, source);
    spec.setFreeze(freeze);
    return spec;
  }

  private static FreezeOrder freezeOrder(MigrationContext view, Check.Admitted source) {
    GpuMigrationSpec asked = view.migration().getSpec();
    FreezeOrder freeze = new FreezeOrder();
    freeze.setNamespaceUid(source.namespaceUid());
    freeze.copyFreeze(asked.getOptions());
    // Already set for the inspection, before a target is created.
    freeze.setRequireRestorable(true);
    source.maxFrozen().ifPresent(longest -> freeze.setMaxFrozen(TimeSpan.of(longest)));
    return freeze;
  }

  private static GpuNodeOperationSpec ofSource(MigrationContext view, Check.Admitted source) {
    GpuNodeOperationSpec spec =
        GpuNodeOperationSpec.of(OperationType.CHECKPOINT, source.pod().getSpec().getNodeName());
    spec.setPod(OperationPod.of(source.pod().getMetadata(), source.container()));
    spec.setArtifact(reference(view, source.store().getMetadata().getName(), null));
    spec.setDeadline(view.left());
    return spec;
  }

  GpuNodeOperationSpec receive(
      MigrationContext view, int number, Optional<ArtifactStatus> artifact) {
    String to = view.target().orElseThrow().getSpec().getNodeName();
    NodeAgent from = view.sourceAgent().orElseThrow();
    GpuNodeOperationSpec spec = GpuNodeOperationSpec.of(OperationType.RECEIVE, to);
    TransferOrder order = transfer(view, number, from, null);
    if (artifact.isEmpty() && takesDirectPath(view)) {
      order.setTarget(pod(view, view.target().orElseThrow()));
    }
    return transfer(spec, view, artifact, order);
  }

  /** Device memory of another path is not loaded before the restore. */
  private static boolean takesDirectPath(MigrationContext view) {
    return view.work()
        .look()
        .map(look -> look.status().getExplanation())
        .filter(found -> found.dataPath() == DataPath.DIRECT)
        .isPresent();
  }

  GpuNodeOperationSpec send(
      MigrationContext view, int number, Optional<ArtifactStatus> artifact, String address) {
    NodeAgent to = view.targetAgent().orElseThrow();
    GpuNodeOperationSpec spec =
        GpuNodeOperationSpec.of(OperationType.SEND, view.sourceAgent().orElseThrow().node());
    return transfer(spec, view, artifact, transfer(view, number, to, address));
  }

  /** An artifact that does not exist yet is sent while it is written. */
  private static GpuNodeOperationSpec transfer(
      GpuNodeOperationSpec spec,
      MigrationContext view,
      Optional<ArtifactStatus> artifact,
      TransferOrder order) {
    order.setAhead(artifact.isEmpty() ? true : null);
    spec.setArtifact(carried(view, artifact));
    spec.setTransfer(order);
    spec.setDeadline(view.left());
    return spec;
  }

  private static ArtifactReference carried(
      MigrationContext view, Optional<ArtifactStatus> artifact) {
    return artifact
        .map(it -> reference(view, it))
        .orElseGet(() -> reference(view, view.admitted().store().getMetadata().getName(), null));
  }

  private static TransferOrder transfer(
      MigrationContext view, int number, NodeAgent peer, @Nullable String address) {
    TransferOrder order = new TransferOrder();
    order.setId(view.migration().getMetadata().getUid() + "-" + number);
    order.setPeer(
        new Peer(
            peer.node(),
            address,
            Objects.requireNonNullElse(
                peer.identity().map(it -> it.certificate()).orElse(null), "none")));
    order.setMaxBytesPerSecond(view.migration().getSpec().getOptions().bytesPerSecond());
    return order;
  }

  GpuNodeOperationSpec restore(MigrationContext view, ArtifactStatus artifact, Pod target) {
    GpuNodeOperationSpec spec = ofTarget(view, target, null);
    spec.setArtifact(reference(view, artifact));
    return spec;
  }

  /** Compares the target's GPUs with the source's. */
  GpuNodeOperationSpec fit(MigrationContext view, Pod target) {
    GpuNodeOperationSpec spec = ofTarget(view, target, true);
    spec.setArtifact(reference(view, view.admitted().store().getMetadata().getName(), null));
    return spec;
  }

  private static GpuNodeOperationSpec ofTarget(
      MigrationContext view, Pod target, @Nullable Boolean dryRun) {
    RestoreOrder order = new RestoreOrder();
    order.setFingerprint(
        Objects.requireNonNull(
            Objects.requireNonNull(view.status().getSourceHardware(), "it was inspected")
                .fingerprint(),
            "it was inspected"));
    order.setTcpConnections(view.migration().getSpec().getOptions().getTcpConnections());
    order.setDryRun(dryRun);
    GpuNodeOperationSpec spec =
        GpuNodeOperationSpec.of(OperationType.RESTORE, target.getSpec().getNodeName());
    spec.setPod(pod(view, target));
    spec.setRestore(order);
    spec.setDeadline(view.left());
    return spec;
  }

  private static OperationPod pod(MigrationContext view, Pod target) {
    return OperationPod.of(target.getMetadata(), container(view.status().getSource()));
  }

  /** Thaw or End of a frozen source. */
  GpuNodeOperationSpec decided(OperationType type, OperationView freeze) {
    GpuNodeOperationSpec of = freeze.operation().getSpec();
    GpuNodeOperationSpec spec = GpuNodeOperationSpec.of(type, of.getNodeName());
    spec.setPod(of.getPod());
    spec.setOfOperation(freeze.name());
    spec.setDeadline(Operations.WAY_BACK);
    return spec;
  }

  GpuNodeOperationSpec delete(MigrationContext view, ArtifactStatus artifact, String node) {
    GpuNodeOperationSpec spec = GpuNodeOperationSpec.of(OperationType.DELETE_ARTIFACT, node);
    spec.setArtifact(reference(view, artifact));
    spec.setDeadline(Operations.WAY_BACK);
    return spec;
  }

  private static ArtifactReference reference(MigrationContext view, ArtifactStatus artifact) {
    return reference(
        view,
        Objects.requireNonNull(artifact.getStore(), "an artifact has a store"),
        artifact.getSha256());
  }

  /** Below the root of the store; the uid distinguishes two objects with the same name. */
  private static ArtifactReference reference(
      MigrationContext view, String store, @Nullable String sha256) {
    ObjectMeta metadata = view.migration().getMetadata();
    return new ArtifactReference(
        store,
        metadata.getNamespace() + "/" + metadata.getName() + "-" + metadata.getUid(),
        metadata.getNamespace(),
        metadata.getUid(),
        sha256);
  }

  private static String container(@Nullable ObservedPod pod) {
    return Objects.requireNonNull(
        Objects.requireNonNull(pod, "it was inspected").container(), "it was looked at");
  }

  /** The pod before it was touched, to derive a target from. */
  Pod original(Work work, Pod now) {
    return work.template().flatMap(template::read).orElse(now);
  }
}
