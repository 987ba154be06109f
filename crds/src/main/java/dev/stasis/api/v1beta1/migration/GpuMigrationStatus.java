package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.PhasedStatus;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.api.v1beta1.common.Room;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state. */
@ValidationRule(
    value =
        "!has(oldSelf.commitment) || (has(self.commitment) && self.commitment == "
            + "oldSelf.commitment)",
    message = "commitment: is immutable once set",
    fieldPath = ".commitment")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuMigrationStatus extends SourceFirstStatus implements PhasedStatus<MigrationPhase> {
  @JsonPropertyDescription("Current phase. For display; programs should use the conditions.")
  private @Nullable MigrationPhase phase;

  @JsonPropertyDescription("Phases entered so far, each with its time.")
  private @Nullable List<PhaseTime<MigrationPhase>> phases;

  @JsonPropertyDescription("The source pod.")
  private @Nullable ObservedPod source;

  @JsonPropertyDescription("The target pod.")
  private @Nullable ObservedPod target;

  @JsonPropertyDescription("Hardware and driver on which the workload ran.")
  private @Nullable Hardware sourceHardware;

  @JsonPropertyDescription("Hardware and driver of the target pod.")
  private @Nullable Hardware targetHardware;

  @JsonPropertyDescription(
      "Point of no return: the decision about which copy of the workload" + " survives.")
  private @Nullable Commitment commitment;

  @JsonPropertyDescription("Bytes transferred between the nodes.")
  private @Nullable Long bytes;

  @JsonPropertyDescription("Human-readable size, such as 48.9Gi.")
  private @Nullable String size;

  @JsonPropertyDescription(
      "Downtime: from the freeze of the source until the target was verified to run.")
  private @Nullable Long downtimeMilliseconds;

  @JsonPropertyDescription("Human-readable downtime, such as 9.8s.")
  private @Nullable String downtime;

  @JsonPropertyDescription("Why the migration was rolled back, if it was.")
  private @Nullable RolledBack rolledBack;

  @JsonPropertyDescription("The controller that owns the pod.")
  private @Nullable ObjectReference owner;

  @JsonPropertyDescription("The artifact, if the migration uses a store.")
  private @Nullable ArtifactStatus artifact;

  @JsonPropertyDescription("Duration of each part on the source.")
  private @Nullable CheckpointTimings timings;

  @JsonPropertyDescription("Duration of each part on the target.")
  private @Nullable RestoreTimings targetTimings;

  @JsonPropertyDescription("Evidence that the workload runs on the target.")
  private @Nullable Proof proof;

  @JsonPropertyDescription(
      "Nodes on which a target pod could not be started. They are not tried again.")
  private @Nullable List<String> excludedNodes;

  @JsonPropertyDescription("Host memory required for the device memory of the source.")
  private @Nullable Room room;

  @JsonPropertyDescription(
      "Name of the GpuNodeOperation on the source node, in the operator's namespace.")
  private @Nullable String sourceOperation;

  @JsonPropertyDescription(
      "Name of the GpuNodeOperation on the target node, in the operator's namespace.")
  private @Nullable String targetOperation;

  @Override
  public @Nullable MigrationPhase getPhase() {
    return phase;
  }

  @Override
  public void setPhase(@Nullable MigrationPhase phase) {
    this.phase = phase;
  }

  @Override
  public @Nullable List<PhaseTime<MigrationPhase>> getPhases() {
    return phases;
  }

  @Override
  public void setPhases(@Nullable List<PhaseTime<MigrationPhase>> phases) {
    this.phases = phases;
  }

  public @Nullable ObservedPod getSource() {
    return source;
  }

  public void setSource(@Nullable ObservedPod source) {
    this.source = source;
  }

  public @Nullable ObservedPod getTarget() {
    return target;
  }

  public void setTarget(@Nullable ObservedPod target) {
    this.target = target;
  }

  public @Nullable Hardware getSourceHardware() {
    return sourceHardware;
  }

  public void setSourceHardware(@Nullable Hardware sourceHardware) {
    this.sourceHardware = sourceHardware;
  }

  public @Nullable Hardware getTargetHardware() {
    return targetHardware;
  }

  public void setTargetHardware(@Nullable Hardware targetHardware) {
    this.targetHardware = targetHardware;
  }

  public @Nullable Commitment getCommitment() {
    return commitment;
  }

  public void setCommitment(@Nullable Commitment commitment) {
    this.commitment = commitment;
  }

  public @Nullable Long getBytes() {
    return bytes;
  }

  public void setBytes(@Nullable Long bytes) {
    this.bytes = bytes;
  }

  public @Nullable String getSize() {
    return size;
  }

  public void setSize(@Nullable String size) {
    this.size = size;
  }

  public @Nullable Long getDowntimeMilliseconds() {
    return downtimeMilliseconds;
  }

  public void setDowntimeMilliseconds(@Nullable Long downtimeMilliseconds) {
    this.downtimeMilliseconds = downtimeMilliseconds;
  }

  public @Nullable String getDowntime() {
    return downtime;
  }

  public void setDowntime(@Nullable String downtime) {
    this.downtime = downtime;
  }

  public @Nullable RolledBack getRolledBack() {
    return rolledBack;
  }

  public void setRolledBack(@Nullable RolledBack rolledBack) {
    this.rolledBack = rolledBack;
  }

  public @Nullable ObjectReference getOwner() {
    return owner;
  }

  public void setOwner(@Nullable ObjectReference owner) {
    this.owner = owner;
  }

  public @Nullable ArtifactStatus getArtifact() {
    return artifact;
  }

  public void setArtifact(@Nullable ArtifactStatus artifact) {
    this.artifact = artifact;
  }

  public @Nullable CheckpointTimings getTimings() {
    return timings;
  }

  public void setTimings(@Nullable CheckpointTimings timings) {
    this.timings = timings;
  }

  public @Nullable RestoreTimings getTargetTimings() {
    return targetTimings;
  }

  public void setTargetTimings(@Nullable RestoreTimings targetTimings) {
    this.targetTimings = targetTimings;
  }

  public @Nullable Proof getProof() {
    return proof;
  }

  public void setProof(@Nullable Proof proof) {
    this.proof = proof;
  }

  public @Nullable List<String> getExcludedNodes() {
    return excludedNodes;
  }

  public void setExcludedNodes(@Nullable List<String> excludedNodes) {
    this.excludedNodes = excludedNodes;
  }

  public @Nullable Room getRoom() {
    return room;
  }

  public void setRoom(@Nullable Room room) {
    this.room = room;
  }

  public @Nullable String getSourceOperation() {
    return sourceOperation;
  }

  public void setSourceOperation(@Nullable String sourceOperation) {
    this.sourceOperation = sourceOperation;
  }

  public @Nullable String getTargetOperation() {
    return targetOperation;
  }

  public void setTargetOperation(@Nullable String targetOperation) {
    this.targetOperation = targetOperation;
  }
}
