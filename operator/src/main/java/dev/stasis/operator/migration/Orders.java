package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import dev.stasis.api.v1alpha1.migration.GpuMigrationSpec;
import dev.stasis.api.v1alpha1.node.AgentIdentity;
import dev.stasis.api.v1alpha1.operation.Afterwards;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Peer;
import dev.stasis.api.v1alpha1.operation.RestoreOrder;
import dev.stasis.api.v1alpha1.operation.TransferOrder;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the agents are told. */
final class Orders {

  /**
   * For what brings a workload back or ends it, and for what tidies up: never cut short by the
   * migration's own deadline. The longest that was seen is 100 s for 140 GB on a busy H200.
   */
  private static final TimeSpan WAY_BACK = TimeSpan.of("30m");

  private final Template template;

  Orders(Template template) {
    this.template = template;
  }

  /** On whose behalf it is. */
  static ObjectReference requester(GpuMigration migration) {
    ObjectMeta metadata = migration.getMetadata();
    return new ObjectReference(
        RequesterKind.MIGRATION.kind(),
        metadata.getNamespace(),
        metadata.getName(),
        metadata.getUid());
  }

  /** Look at the source; the pod as it is now, before it is resized, is kept in the order. */
  GpuNodeOperationSpec look(View view, Check.Admitted source) {
    FreezeOrder freeze = freezeOrder(view, source);
    freeze.setExplainOnly(true);
    freeze.setPodTemplate(template.of(source.pod()));
    GpuNodeOperationSpec spec = ofSource(view, source);
    spec.setFreeze(freeze);
    return spec;
  }

  /** Freeze the source, and leave it frozen until it is decided which copy is the one. */
  GpuNodeOperationSpec freeze(View view, Check.Admitted source) {
    FreezeOrder freeze = freezeOrder(view, source);
    freeze.setAfterwards(Afterwards.HOLD);
    freeze.setHeldUntilDecided(true);
    freeze.setPodTemplate(before(view).orElseGet(() -> template.of(source.pod())));
    GpuNodeOperationSpec spec = ofSource(view, source);
    spec.setFreeze(freeze);
    return spec;
  }

  /** The pod as it was before it was touched. */
  static Optional<Map<String, Object>> before(View view) {
    return view.work()
        .look()
        .map(look -> look.operation().getSpec().getFreeze())
        .map(FreezeOrder::getPodTemplate);
  }

  private static FreezeOrder freezeOrder(View view, Check.Admitted source) {
    GpuMigrationSpec asked = view.migration().getSpec();
    FreezeOrder freeze = new FreezeOrder();
    freeze.setNamespaceUid(source.namespaceUid());
    freeze.setLockTimeout(asked.getLockTimeout());
    freeze.setTcp(asked.getTcp());
    freeze.setHooks(asked.getHooks());
    freeze.setLivenessPolicy(asked.getLivenessPolicy());
    freeze.setMemoryRoom(asked.getMemoryRoom());
    freeze.setOtherContainers(asked.getOtherContainers());
    // Asked of the first look already, before a target is made.
    freeze.setRequireRestorable(true);
    source
        .maxFrozen()
        .ifPresent(
            longest -> freeze.setMaxFrozen(TimeSpan.of(Math.max(1, longest.toSeconds()) + "s")));
    return freeze;
  }

  private static GpuNodeOperationSpec ofSource(View view, Check.Admitted source) {
    ObjectMeta pod = source.pod().getMetadata();
    GpuNodeOperationSpec spec =
        spec(OperationType.CHECKPOINT, source.pod().getSpec().getNodeName());
    spec.setPod(
        new OperationPod(pod.getNamespace(), pod.getName(), pod.getUid(), source.container()));
    spec.setArtifact(reference(view, source.store().getMetadata().getName(), null));
    spec.setDeadline(view.left());
    return spec;
  }

  GpuNodeOperationSpec receive(View view, Next.Receive receive) {
    GpuNodeOperationSpec spec = spec(OperationType.RECEIVE, receive.to());
    spec.setArtifact(carried(view, receive.artifact()));
    TransferOrder order =
        transfer(view, receive.number(), receive.from().node(), receive.from().identity(), null);
    order.setAhead(receive.artifact().isEmpty() ? true : null);
    spec.setTransfer(order);
    spec.setDeadline(view.left());
    return spec;
  }

  GpuNodeOperationSpec send(View view, Next.Send send) {
    String from = Objects.requireNonNull(view.sourceAgent().orElseThrow().node());
    GpuNodeOperationSpec spec = spec(OperationType.SEND, from);
    spec.setArtifact(carried(view, send.artifact()));
    TransferOrder order =
        transfer(view, send.number(), send.to().node(), send.to().identity(), send.address());
    order.setAhead(send.artifact().isEmpty() ? true : null);
    spec.setTransfer(order);
    spec.setDeadline(view.left());
    return spec;
  }

  private static ArtifactReference carried(View view, Optional<ArtifactStatus> artifact) {
    return artifact
        .map(it -> reference(view, it))
        .orElseGet(() -> reference(view, view.store().orElseThrow().getMetadata().getName(), null));
  }

  private static TransferOrder transfer(
      View view, int number, String node, Optional<AgentIdentity> peer, @Nullable String address) {
    TransferOrder order = new TransferOrder();
    order.setId(view.migration().getMetadata().getUid() + "-" + number);
    order.setPeer(
        new Peer(
            node,
            address,
            Objects.requireNonNullElse(peer.map(it -> it.certificate()).orElse(null), "none")));
    order.setMaxBytesPerSecond(view.migration().getSpec().getMaxBytesPerSecond());
    return order;
  }

  GpuNodeOperationSpec restore(View view, Next.Restore restore) {
    GpuNodeOperationSpec spec = ofTarget(view, restore.target(), null);
    spec.setArtifact(reference(view, restore.artifact()));
    return spec;
  }

  /** Compare what the target got with what the source has. */
  GpuNodeOperationSpec fit(View view, Pod target) {
    GpuNodeOperationSpec spec = ofTarget(view, target, true);
    spec.setArtifact(reference(view, view.store().orElseThrow().getMetadata().getName(), null));
    return spec;
  }

  private static GpuNodeOperationSpec ofTarget(
      View view, Pod target, @Nullable Boolean explainOnly) {
    RestoreOrder order = new RestoreOrder();
    order.setFingerprint(
        Objects.requireNonNull(
            Objects.requireNonNull(view.status().getSourceHardware(), "it was looked at")
                .fingerprint(),
            "it was looked at"));
    order.setTcp(view.migration().getSpec().getTcp());
    order.setExplainOnly(explainOnly);
    ObjectMeta pod = target.getMetadata();
    GpuNodeOperationSpec spec = spec(OperationType.RESTORE, target.getSpec().getNodeName());
    spec.setPod(
        new OperationPod(
            pod.getNamespace(), pod.getName(), pod.getUid(), container(view.status().getSource())));
    spec.setRestore(order);
    spec.setDeadline(view.left());
    return spec;
  }

  /** Thaw or End of what was frozen. */
  GpuNodeOperationSpec decided(Next.Decided decided) {
    GpuNodeOperationSpec of = decided.freeze().operation().getSpec();
    GpuNodeOperationSpec spec = spec(decided.type(), of.getNodeName());
    spec.setPod(of.getPod());
    spec.setOfOperation(decided.freeze().name());
    spec.setDeadline(WAY_BACK);
    return spec;
  }

  GpuNodeOperationSpec delete(View view, Next.Delete delete) {
    GpuNodeOperationSpec spec = spec(OperationType.DELETE_ARTIFACT, delete.node());
    spec.setArtifact(reference(view, delete.artifact()));
    spec.setDeadline(WAY_BACK);
    return spec;
  }

  private static GpuNodeOperationSpec spec(OperationType type, String node) {
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(type);
    spec.setNodeName(node);
    return spec;
  }

  private static ArtifactReference reference(View view, ArtifactStatus artifact) {
    return reference(
        view,
        Objects.requireNonNull(artifact.getStore(), "an artifact has a store"),
        artifact.getSha256());
  }

  /** Below the root of the store; the uid keeps two objects of one name apart. */
  private static ArtifactReference reference(View view, String store, @Nullable String sha256) {
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
        Objects.requireNonNull(pod, "it was looked at").container(), "it was looked at");
  }

  /** The pod as it was before it was touched, to make a target of. */
  Pod original(View view, Pod now) {
    return before(view).flatMap(template::read).orElse(now);
  }
}
