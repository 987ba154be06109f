package dev.stasis.operator.operation;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A view of an operation that has defaults for values that the agent has not reported yet.
 *
 * @param operation the operation; not changed
 * @param status the agent's report, empty before the first one
 */
public record OperationView(GpuNodeOperation operation, GpuNodeOperationStatus status) {

  /** Creates a view. */
  public static OperationView of(GpuNodeOperation operation) {
    return new OperationView(
        operation,
        Objects.requireNonNullElseGet(operation.getStatus(), GpuNodeOperationStatus::new));
  }

  public String name() {
    return operation.getMetadata().getName();
  }

  public OperationType type() {
    return operation.getSpec().getType();
  }

  public String node() {
    return operation.getSpec().getNodeName();
  }

  /** Returns its number among those of its type and requester, from its name. */
  public int number() {
    return Integer.parseInt(name().substring(name().lastIndexOf('-') + 1));
  }

  public OperationPhase phase() {
    return Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
  }

  /** Returns when it entered its last phase, or its creation time if it has no phase. */
  public Instant entered() {
    List<PhaseTime<OperationPhase>> phases =
        Objects.requireNonNullElse(status.getPhases(), List.of());
    if (!phases.isEmpty()) {
      return phases.get(phases.size() - 1).time();
    }
    String created = operation.getMetadata().getCreationTimestamp();
    return created == null ? Instant.EPOCH : Instant.parse(created);
  }

  /**
   * Returns whether it is finished. A report with values of a newer release is not the end: this
   * operator would draw the wrong conclusion from it.
   */
  public boolean isFinal() {
    return phase().isFinal()
        && status.getOutcome() != Outcome.UNRECOGNIZED
        && status.getWorkload() != WorkloadState.UNRECOGNIZED;
  }

  public boolean succeeded() {
    return isFinal() && phase() == OperationPhase.SUCCEEDED;
  }

  public boolean isClaimed() {
    return status.getClaimedBy() != null;
  }

  /** Returns whether its cancellation was requested. */
  public boolean isCancelled() {
    return Boolean.TRUE.equals(operation.getSpec().getCancel())
        || operation.getMetadata().getDeletionTimestamp() != null;
  }

  /** Returns the outcome, once it is finished. */
  public Optional<Outcome> outcome() {
    return Optional.ofNullable(status.getOutcome());
  }

  /** Returns whether it has ended with that outcome. */
  public boolean ended(Outcome outcome) {
    return status.getOutcome() == outcome;
  }

  /** Returns whether it is a freeze that ended before it touched its workload. */
  public boolean isUntouched() {
    Outcome outcome = status.getOutcome();
    boolean neverFrozen = status.getSourceRunning() == null && status.getWorkload() == null;
    return operation.getSpec().getFreeze() != null
        && (outcome == Outcome.REFUSED || (outcome == Outcome.UNDONE && neverFrozen));
  }

  public WorkloadState workload() {
    return Objects.requireNonNullElse(status.getWorkload(), WorkloadState.UNKNOWN);
  }

  /**
   * Returns whether it is finished and its workload is still frozen unintentionally. Its agent
   * retries the thaw, and reports here when the workload runs.
   */
  public boolean isLeftFrozen() {
    return operation.getSpec().getFreeze() != null
        && phase() == OperationPhase.FAILED
        && status.getOutcome() == Outcome.NOT_UNDONE
        && (status.getWorkload() == WorkloadState.FROZEN
            || status.getWorkload() == WorkloadState.UNKNOWN);
  }

  /**
   * Returns the artifact, if the agent reports one at the requested location, with the sizes,
   * digest and image that only the agent knows. A report with another location is ignored, because
   * it does not concern its own artifact.
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
    artifact.setSize(said.getBytes() == null ? null : new HumanBytes(said.getBytes()).text());
    artifact.setGpuBytes(said.getGpuBytes());
    artifact.setImage(said.getImage());
    artifact.setDurability(said.getDurability());
    artifact.setNotPortable(said.getNotPortable());
    if (type() == OperationType.IMPORT) {
      // The previous owner is in the manifest, which only the agent reads.
      artifact.setUid(said.getUid());
      artifact.setNamespaceUid(said.getNamespaceUid());
      artifact.setStoredBytes(said.getStoredBytes());
      artifact.setNewBytes(said.getNewBytes());
      artifact.setSha256(ordered.sha256() == null ? said.getSha256() : ordered.sha256());
    }
    return Optional.of(artifact);
  }

  /** Returns what prevents it, or its failure. */
  public List<Fault> faults() {
    return Objects.requireNonNullElse(status.getFaults(), List.of());
  }

  /** Returns the agent's message; its reason if there is none. */
  public String message() {
    return message(reason());
  }

  /** Returns the agent's message; that text if there is none. */
  public String message(String otherwise) {
    return Objects.requireNonNullElse(status.getMessage(), otherwise);
  }

  /** Returns the state in one word, as reported by the agent. */
  public String reason() {
    return Objects.requireNonNullElse(status.getReason(), "");
  }
}
