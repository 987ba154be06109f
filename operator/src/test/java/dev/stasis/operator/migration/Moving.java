package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.NodeVerdict;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.migration.Commitment;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.RolledBack;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.Peer;
import dev.stasis.api.v1beta1.operation.TransferOrder;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.store.GpuCheckpointStoreSpec;
import dev.stasis.api.v1beta1.store.NodeLocal;
import dev.stasis.api.v1beta1.store.StoreLocation;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One migration from a node called here to one called there; what is not said is as it should be.
 */
final class Moving {

  static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

  final GpuMigration migration = new GpuMigration();
  final Map<String, GpuNodeOperation> operations = new LinkedHashMap<>();
  final GpuCheckpointStore store = new GpuCheckpointStore();
  @Nullable Pod source = pod("trainer", "source-uid", "here", "containerd://abc");
  @Nullable Pod target;
  Check check;
  NodeAgent here = agent("here");
  NodeAgent there = agent("there");
  @Nullable String turn;
  @Nullable OwnerReference owner;
  NodeVerdicts places = new NodeVerdicts(List.of(new NodeVerdict("there", true, null)));
  SourceFirstState sourceFirst = SourceFirstState.NONE;
  Instant now = NOW;

  Moving() {
    migration.getMetadata().setName("off");
    migration.getMetadata().setNamespace("ml");
    migration.getMetadata().setUid("uid");
    migration.getMetadata().setCreationTimestamp(NOW.toString());
    migration.setSpec(new GpuMigrationSpec());
    migration.getSpec().setPodRef(PodReference.of("trainer"));
    migration.setStatus(new GpuMigrationStatus());
    store.getMetadata().setName("local");
    store.setSpec(new GpuCheckpointStoreSpec());
    store.getSpec().setLocation(StoreLocation.of(new NodeLocal("/var/lib/stasis/store")));
    check = new Check.Admitted(source(), "main", store, Optional.empty(), "namespace-1");
  }

  Pod source() {
    return java.util.Objects.requireNonNull(source);
  }

  GpuMigrationStatus status() {
    return migration.getStatus();
  }

  /** It was looked at, and nothing is against it. */
  Moving looked() {
    status().setSource(new ObservedPod("trainer", "source-uid", "main", "here"));
    status().setPhase(MigrationPhase.PENDING);
    operation(OperationType.CHECKPOINT, Work.LOOK, "here", OperationPhase.SUCCEEDED);
    return this;
  }

  /** The target waits. */
  Moving holding() {
    looked();
    target = pod("trainer-x", "target-uid", "there", "containerd://def");
    status().setTarget(new ObservedPod("trainer-x", "target-uid", "main", "there"));
    status().setAttempts(1);
    status().setPhase(MigrationPhase.TARGET_STARTING);
    operation(OperationType.RESTORE, Work.FIT + 1, "there", OperationPhase.SUCCEEDED);
    return this;
  }

  /** Both ends of the stream wait for the artifact. */
  Moving connected() {
    holding();
    operation(OperationType.RECEIVE, 1, "there", OperationPhase.RUNNING)
        .getStatus()
        .setListening("10.0.0.2:8743");
    operation(OperationType.SEND, 1, "here", OperationPhase.RUNNING);
    return this;
  }

  /** The source is being frozen; nothing goes ahead. */
  Moving freezing() {
    holding();
    status().setPhase(MigrationPhase.FREEZING);
    GpuNodeOperation freeze =
        operation(OperationType.CHECKPOINT, Work.FREEZE, "here", OperationPhase.RUNNING);
    freeze.getSpec().setFreeze(new FreezeOrder());
    freeze.getStatus().setContainerId("abc");
    freeze.getStatus().setWorkload(WorkloadState.FROZEN);
    freeze.getStatus().setFrozenTime(NOW);
    return this;
  }

  /** It is frozen, its artifact safe. */
  Moving held() {
    freezing();
    GpuNodeOperation freeze = freeze();
    freeze.getStatus().setPhase(OperationPhase.HELD);
    freeze.getStatus().setArtifact(artifact("here"));
    return this;
  }

  /** The artifact is on its way. */
  Moving sending() {
    held();
    status().setPhase(MigrationPhase.TRANSFERRING);
    operation(OperationType.RECEIVE, 1, "there", OperationPhase.RUNNING)
        .getStatus()
        .setListening("10.0.0.2:8743");
    operation(OperationType.SEND, 1, "here", OperationPhase.RUNNING);
    return this;
  }

  /** The target is being filled. */
  Moving restoring() {
    sending();
    status().setPhase(MigrationPhase.RESTORING);
    end(OperationType.RECEIVE, 1, OperationPhase.SUCCEEDED);
    get(OperationType.RECEIVE, 1).getStatus().setArtifact(artifact("there"));
    end(OperationType.SEND, 1, OperationPhase.SUCCEEDED);
    operation(OperationType.RESTORE, 1, "there", OperationPhase.RUNNING);
    return this;
  }

  /** The target is proven. */
  Moving proven() {
    restoring();
    end(OperationType.RESTORE, 1, OperationPhase.SUCCEEDED);
    get(OperationType.RESTORE, 1)
        .getStatus()
        .setProof(new Proof(NOW.plusSeconds(9), List.of(), 8L, 8L));
    return this;
  }

  Moving decided(Decision decision) {
    status().setCommitment(new Commitment(decision, NOW, "operator"));
    if (decision == Decision.ROLL_BACK) {
      status().setRolledBack(new RolledBack("Cancelled", "it was cancelled", null, null));
    }
    return this;
  }

  GpuNodeOperation freeze() {
    return get(OperationType.CHECKPOINT, Work.FREEZE);
  }

  GpuNodeOperation get(OperationType type, int number) {
    return java.util.Objects.requireNonNull(operations.get(type + "-" + number));
  }

  void end(OperationType type, int number, OperationPhase phase) {
    GpuNodeOperationStatus status = get(type, number).getStatus();
    status.setPhase(phase);
    status.setOutcome(phase == OperationPhase.SUCCEEDED ? Outcome.DONE : Outcome.UNDONE);
    if (phase == OperationPhase.FAILED) {
      status.setFaults(List.of(fault("CriuFailed")));
    }
  }

  static Fault fault(String reason) {
    return new Fault(reason, null, null, null, null, null, "it failed: " + reason);
  }

  GpuNodeOperation operation(OperationType type, int number, String node, OperationPhase phase) {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation
        .getMetadata()
        .setName("mig-uid-" + type.value().toLowerCase(java.util.Locale.ROOT) + "-" + number);
    operation.setSpec(new GpuNodeOperationSpec());
    operation.getSpec().setType(type);
    operation.getSpec().setNodeName(node);
    operation.getSpec().setPod(new OperationPod("ml", "trainer", "source-uid", "main"));
    operation
        .getSpec()
        .setArtifact(new ArtifactReference("local", "ml/off-uid", "ml", "mig-uid", null));
    if (type == OperationType.SEND || type == OperationType.RECEIVE) {
      TransferOrder transfer = new TransferOrder();
      String peer = type == OperationType.SEND ? "there" : "here";
      transfer.setPeer(new Peer(peer, null, "key of " + peer));
      operation.getSpec().setTransfer(transfer);
    }
    operation.setStatus(new GpuNodeOperationStatus());
    operation.getStatus().setPhase(phase);
    operation.getStatus().setClaimedBy(new Claim("agent", null, NOW));
    operations.put(type + "-" + number, operation);
    return operation;
  }

  static ArtifactStatus artifact(String node) {
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("local");
    artifact.setNode(node);
    artifact.setLocation("ml/off-uid");
    artifact.setSha256("ab".repeat(32));
    artifact.setBytes(8L << 20);
    return artifact;
  }

  static NodeAgent agent(String node) {
    return new NodeAgent(
        node,
        false,
        Optional.empty(),
        Optional.empty(),
        NOW,
        Optional.of(new AgentIdentity("0.1.0", null, NOW, NOW, "10.0.0.1:8743", "key of " + node)));
  }

  static NodeAgent silent(String node) {
    Optional<String> why = Optional.of("node " + node + ": agent: silent");
    return new NodeAgent(node, false, why, why, NOW, agent(node).identity());
  }

  static NodeAgent gone(String node) {
    Optional<String> why = Optional.of("node " + node + ": gone");
    return new NodeAgent(node, true, why, why, NOW, Optional.empty());
  }

  static Pod pod(String name, String uid, String node, String containerId) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("ml")
        .withUid(uid)
        .endMetadata()
        .withNewSpec()
        .withNodeName(node)
        .endSpec()
        .withNewStatus()
        .withPhase("Running")
        .addNewContainerStatus()
        .withName("main")
        .withContainerID(containerId)
        .withRestartCount(0)
        .withNewState()
        .withNewRunning(NOW.toString())
        .endState()
        .endContainerStatus()
        .endStatus()
        .build();
  }

  void deadline(String text) {
    migration.getSpec().getOptions().setDeadline(TimeSpan.of(text));
  }

  MigrationContext view() {
    return new MigrationContext(
        migration,
        check,
        Optional.ofNullable(source),
        Optional.ofNullable(target),
        new Work(operations.values().stream().map(OperationView::of).toList()),
        Optional.of(here),
        Optional.of(there),
        Optional.of(places),
        Set.of(),
        Optional.ofNullable(turn),
        Optional.ofNullable(owner),
        sourceFirst,
        Duration.ofMinutes(15),
        now);
  }

  Next next() {
    return new Decider().next(view());
  }
}
