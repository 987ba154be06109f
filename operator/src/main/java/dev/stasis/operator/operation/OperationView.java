package dev.stasis.operator.operation;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.operation.ArtifactReference;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.operator.status.Size;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * An operation as it is read: what its agent has not said yet has a value too.
 *
 * @param operation as it was found; not changed
 * @param status what the agent said, empty before its first word
 */
public record OperationView(GpuNodeOperation operation, GpuNodeOperationStatus status) {

  /** Reads it. */
  public static OperationView of(GpuNodeOperation operation) {
    return new OperationView(
        operation,
        Objects.requireNonNullElseGet(operation.getStatus(), GpuNodeOperationStatus::new));
  }

  /** What it is called. */
  public String name() {
    return operation.getMetadata().getName();
  }

  /** What it does. */
  public OperationType type() {
    return operation.getSpec().getType();
  }

  /** Where it is. */
  public OperationPhase phase() {
    return Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
  }

  /** Returns when it entered its last phase; when it was created while it has none. */
  public Instant entered() {
    List<PhaseTime<OperationPhase>> phases =
        Objects.requireNonNullElse(status.getPhases(), List.of());
    if (!phases.isEmpty()) {
      return phases.get(phases.size() - 1).time();
    }
    String created = operation.getMetadata().getCreationTimestamp();
    return created == null ? Instant.EPOCH : Instant.parse(created);
  }

  /** Whether it is over. */
  public boolean isFinal() {
    return phase().isFinal();
  }

  /** Whether it is over and did what was asked for. */
  public boolean succeeded() {
    return phase() == OperationPhase.SUCCEEDED;
  }

  /** Whether an agent has it in hand, or had. */
  public boolean isClaimed() {
    return status.getClaimedBy() != null;
  }

  /** Whether it was asked to undo everything. */
  public boolean isCancelled() {
    return Boolean.TRUE.equals(operation.getSpec().getCancel())
        || operation.getMetadata().getDeletionTimestamp() != null;
  }

  /** What it left behind, once it is over. */
  public Optional<Outcome> outcome() {
    return Optional.ofNullable(status.getOutcome());
  }

  /** In which state the workload is. */
  public WorkloadState workload() {
    return Objects.requireNonNullElse(status.getWorkload(), WorkloadState.UNKNOWN);
  }

  /**
   * Whether it is over and its workload stands still, though nobody wants that. Its agent tries to
   * thaw it again, and says here when it runs.
   */
  public boolean isLeftFrozen() {
    return operation.getSpec().getFreeze() != null
        && phase() == OperationPhase.FAILED
        && status.getOutcome() == Outcome.NOT_UNDONE
        && (status.getWorkload() == WorkloadState.FROZEN
            || status.getWorkload() == WorkloadState.UNKNOWN);
  }

  /**
   * The artifact, where the agent reports one: at the place that was ordered, with the sizes, the
   * digest and the image that only the agent knows. An agent that reports another place speaks of
   * an artifact that is not its own.
   */
  public Optional<ArtifactStatus> artifact() {
    ArtifactReference ordered = operation.getSpec().getArtifact();
    ArtifactStatus said = status.getArtifact();
    if (ordered == null || said == null) {
      return Optional.empty();
    }
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore(ordered.store());
    artifact.setLocation(ordered.location());
    artifact.setNode(said.getNode() == null ? null : operation.getSpec().getNodeName());
    artifact.setSha256(said.getSha256());
    artifact.setBytes(said.getBytes());
    artifact.setSize(said.getBytes() == null ? null : new Size(said.getBytes()).text());
    artifact.setGpuBytes(said.getGpuBytes());
    artifact.setImage(said.getImage());
    artifact.setNotPortable(said.getNotPortable());
    if (type() == OperationType.IMPORT) {
      // Whose it was before is in the manifest, which only the agent reads.
      artifact.setUid(said.getUid());
      artifact.setNamespaceUid(said.getNamespaceUid());
      artifact.setSha256(ordered.sha256() == null ? said.getSha256() : ordered.sha256());
    }
    return Optional.of(artifact);
  }

  /** What stands against it or went wrong. */
  public List<Fault> faults() {
    return Objects.requireNonNullElse(status.getFaults(), List.of());
  }

  /** The state in one word, as the agent said it. */
  public String reason() {
    return Objects.requireNonNullElse(status.getReason(), "");
  }
}
