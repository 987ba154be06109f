package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Peer;
import dev.stasis.api.v1beta1.operation.RestoreOrder;
import dev.stasis.api.v1beta1.operation.TransferOrder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Operations as the operator makes them, for one object of a user.
 *
 * @param requester uid of that object
 * @param store name of the store of its artifact
 */
record Orders(String requester, String store) {

  Orders(String requester) {
    this(requester, "local");
  }

  /** Of somebody whose artifact is uploaded. */
  static Orders inRemoteStore() {
    return new Orders(UUID.randomUUID().toString(), LabStores.REMOTE);
  }

  static Orders ofSomebody() {
    return new Orders(UUID.randomUUID().toString());
  }

  /** An operation that an agent has claimed in this second. */
  static ActiveOperation active(GpuNodeOperation operation, OperationStage stage) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    GpuNodeOperationStatus status = new GpuNodeOperationStatus();
    status.setClaimedBy(new Claim("agent", "boot", now));
    operation.setStatus(status);
    if (operation.getMetadata().getUid() == null) {
      operation.getMetadata().setUid("uid");
      operation.getMetadata().setCreationTimestamp(now.toString());
    }
    return new ActiveOperation(Clock.systemUTC(), operation, stage);
  }

  Map<String, String> labels() {
    return Map.of(Api.OPERATION_UID_LABEL, requester);
  }

  ArtifactReference artifact(@Nullable String sha256) {
    return new ArtifactReference(store, "ml/train-" + requester, "ml", requester, sha256);
  }

  /** An operation with the remote store. */
  GpuNodeOperation remote(OperationType type, String sha256) {
    GpuNodeOperation operation = operation(type, null);
    operation
        .getSpec()
        .setArtifact(
            new ArtifactReference(
                store, "ml/train-" + requester, "ml", requester, sha256, "namespace-uid"));
    return operation;
  }

  GpuNodeOperation checkpoint(AgentLab.Placed pod, Consumer<FreezeOrder> how) {
    FreezeOrder order = new FreezeOrder();
    order.setAfterwards(Afterwards.RESUME);
    order.setPodTemplate(Map.of("metadata", Map.of("name", pod.name())));
    how.accept(order);
    GpuNodeOperation operation = operation(OperationType.CHECKPOINT, pod);
    operation.getSpec().setFreeze(order);
    operation.getSpec().setArtifact(artifact(null));
    return operation;
  }

  GpuNodeOperation suspend(AgentLab.Placed pod) {
    GpuNodeOperation operation = operation(OperationType.SUSPEND, pod);
    operation.getSpec().setFreeze(new FreezeOrder());
    return operation;
  }

  GpuNodeOperation restore(AgentLab.Placed pod, String fingerprint, String sha256) {
    RestoreOrder order = new RestoreOrder();
    order.setFingerprint(fingerprint);
    GpuNodeOperation operation = operation(OperationType.RESTORE, pod);
    operation.getSpec().setRestore(order);
    operation.getSpec().setArtifact(artifact(sha256));
    return operation;
  }

  GpuNodeOperation of(OperationType type, AgentLab.Placed pod, String other) {
    GpuNodeOperation operation = operation(type, pod);
    operation.getSpec().setOfOperation(other);
    return operation;
  }

  GpuNodeOperation delete() {
    return ofArtifact(OperationType.DELETE_ARTIFACT);
  }

  /** An operation that needs nothing but the artifact. */
  GpuNodeOperation ofArtifact(OperationType type) {
    GpuNodeOperation operation = operation(type, null);
    operation.getSpec().setArtifact(artifact(null));
    return operation;
  }

  /** The import of an artifact at that place. */
  GpuNodeOperation imported(String location, ExpectedWorkload expected, @Nullable String sha256) {
    GpuNodeOperation operation = operation(OperationType.IMPORT, null);
    operation.getSpec().setExpected(expected);
    operation
        .getSpec()
        .setArtifact(new ArtifactReference(store, location, "ml", requester, sha256));
    return operation;
  }

  /** One end of a transfer of the artifact that is still to be made. */
  GpuNodeOperation ahead(
      OperationType type, String id, @Nullable String address, String certificate) {
    GpuNodeOperation operation = transfer(type, null, id, address, certificate);
    Objects.requireNonNull(operation.getSpec().getTransfer()).setAhead(true);
    return operation;
  }

  /** One end of a transfer of the artifact. */
  GpuNodeOperation transfer(
      OperationType type,
      @Nullable String sha256,
      String id,
      @Nullable String address,
      String certificate) {
    TransferOrder transfer = new TransferOrder();
    transfer.setId(id);
    transfer.setPeer(new Peer("the-other", address, certificate));
    GpuNodeOperation operation = operation(type, null);
    operation.getSpec().setArtifact(artifact(sha256));
    operation.getSpec().setTransfer(transfer);
    return operation;
  }

  private GpuNodeOperation operation(OperationType type, AgentLab.@Nullable Placed pod) {
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(type);
    spec.setNodeName(AgentLab.NODE);
    spec.setRequester(new ObjectReference("GpuCheckpoint", "ml", "train", requester));
    if (pod != null) {
      spec.setPod(new OperationPod("ml", pod.name(), pod.uid(), "main"));
    }
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setMetadata(
        new ObjectMetaBuilder()
            .withName(
                "ckpt-"
                    + UUID.randomUUID()
                    + "-"
                    + type.value().toLowerCase(java.util.Locale.ROOT)
                    + "-1")
            .withNamespace("stasis-system")
            .addToLabels(Api.NODE_LABEL, AgentLab.NODE)
            .addToLabels(labels())
            .build());
    operation.setSpec(spec);
    return operation;
  }
}
