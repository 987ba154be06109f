package dev.stasis.api.v1alpha1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.CheckpointTimings;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.NodeVerdict;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Proof;
import dev.stasis.api.v1alpha1.common.RestoreTimings;
import dev.stasis.api.v1alpha1.common.Room;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What became of it. */
@ValidationRule(
    value =
        "!has(oldSelf.commitment) || (has(self.commitment) && self.commitment == "
            + "oldSelf.commitment)",
    message = "commitment: is taken once",
    fieldPath = ".commitment")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuMigrationStatus extends SourceFirstStatus {
  @JsonPropertyDescription("Where it is.")
  private @Nullable MigrationPhase phase;

  @JsonPropertyDescription("Every phase that it entered, with the time.")
  private @Nullable List<PhaseTime<MigrationPhase>> phases;

  @JsonPropertyDescription("The pod that is moved.")
  private @Nullable ObservedPod source;

  @JsonPropertyDescription("The pod that takes its place.")
  private @Nullable ObservedPod target;

  @JsonPropertyDescription("What the workload ran on.")
  private @Nullable Hardware sourceHardware;

  @JsonPropertyDescription("What the target got.")
  private @Nullable Hardware targetHardware;

  @JsonPropertyDescription("Which copy is the one, once that is decided.")
  private @Nullable Commitment commitment;

  @JsonPropertyDescription("Bytes that went from node to node.")
  private @Nullable Long bytes;

  @JsonPropertyDescription("The same, for people: 48.9Gi.")
  private @Nullable String size;

  @JsonPropertyDescription("From the freeze of the source until the target was proven.")
  private @Nullable Long downtimeMilliseconds;

  @JsonPropertyDescription("The same, for people: 9.8s.")
  private @Nullable String downtime;

  @JsonPropertyDescription("Why the source went on, if it did.")
  private @Nullable RolledBack rolledBack;

  @JsonPropertyDescription("The controller of the pod.")
  private @Nullable ObjectReference owner;

  @JsonPropertyDescription("The artifact, with SourceFirst or through a store.")
  private @Nullable ArtifactStatus artifact;

  @JsonPropertyDescription("How long each part took on the source.")
  private @Nullable CheckpointTimings timings;

  @JsonPropertyDescription("How long each part took on the target.")
  private @Nullable RestoreTimings targetTimings;

  @JsonPropertyDescription("Why the workload counts as running on the target.")
  private @Nullable Proof proof;

  @JsonPropertyDescription("Every reason for which it was refused or failed.")
  private @Nullable List<Fault> faults;

  @JsonPropertyDescription("Number of nodes that fit.")
  private @Nullable Integer nodesFit;

  @JsonPropertyDescription("Number of nodes with GPUs.")
  private @Nullable Integer nodesKnown;

  @JsonPropertyDescription("What stands against each node, while none fits; at most 100.")
  private @Nullable List<NodeVerdict> nodes;

  @JsonPropertyDescription("How many target pods were made.")
  private @Nullable Integer attempts;

  @JsonPropertyDescription(
      "Nodes on which a target could not be started; they are not tried again.")
  private @Nullable List<String> excludedNodes;

  @JsonPropertyDescription("Room for the device memory of the source, as it was found.")
  private @Nullable Room room;

  @JsonPropertyDescription("Containers of the pod that started anew.")
  private @Nullable List<String> otherContainers;

  @JsonPropertyDescription("Name of the source's GpuNodeOperation, in the operator's namespace.")
  private @Nullable String sourceOperation;

  @JsonPropertyDescription("Name of the target's GpuNodeOperation, in the operator's namespace.")
  private @Nullable String targetOperation;

  public @Nullable MigrationPhase getPhase() {
    return phase;
  }

  public void setPhase(@Nullable MigrationPhase phase) {
    this.phase = phase;
  }

  public @Nullable List<PhaseTime<MigrationPhase>> getPhases() {
    return phases;
  }

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

  public @Nullable List<Fault> getFaults() {
    return faults;
  }

  public void setFaults(@Nullable List<Fault> faults) {
    this.faults = faults;
  }

  public @Nullable Integer getNodesFit() {
    return nodesFit;
  }

  public void setNodesFit(@Nullable Integer nodesFit) {
    this.nodesFit = nodesFit;
  }

  public @Nullable Integer getNodesKnown() {
    return nodesKnown;
  }

  public void setNodesKnown(@Nullable Integer nodesKnown) {
    this.nodesKnown = nodesKnown;
  }

  public @Nullable List<NodeVerdict> getNodes() {
    return nodes;
  }

  public void setNodes(@Nullable List<NodeVerdict> nodes) {
    this.nodes = nodes;
  }

  public @Nullable Integer getAttempts() {
    return attempts;
  }

  public void setAttempts(@Nullable Integer attempts) {
    this.attempts = attempts;
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

  public @Nullable List<String> getOtherContainers() {
    return otherContainers;
  }

  public void setOtherContainers(@Nullable List<String> otherContainers) {
    this.otherContainers = otherContainers;
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
