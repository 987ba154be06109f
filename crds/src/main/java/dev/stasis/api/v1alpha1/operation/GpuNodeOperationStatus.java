package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.CheckpointTimings;
import dev.stasis.api.v1alpha1.common.DataPath;
import dev.stasis.api.v1alpha1.common.Explanation;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.PackedObject;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Proof;
import dev.stasis.api.v1alpha1.common.RestoreTimings;
import dev.stasis.api.v1alpha1.common.Room;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.common.WorkStatus;
import io.fabric8.crd.generator.annotation.PreserveUnknownFields;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How far it is, and what came of it. Written by the agent of that node only. */
@ValidationRule(
    value =
        "!has(oldSelf.claimedBy) || (has(self.claimedBy) && self.claimedBy.time >= "
            + "oldSelf.claimedBy.time)",
    message = "claimedBy: is never given back",
    fieldPath = ".claimedBy")
@ValidationRule(
    value = "!has(oldSelf.outcome) || (has(self.outcome) && self.outcome == oldSelf.outcome)",
    message = "outcome: is final",
    fieldPath = ".outcome")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuNodeOperationStatus extends WorkStatus {
  @JsonPropertyDescription("Who has it in hand; written by a compare-and-swap.")
  private @Nullable Claim claimedBy;

  @JsonPropertyDescription("Where it is.")
  private @Nullable OperationPhase phase;

  @JsonPropertyDescription("Every phase that it entered, with the time.")
  private @Nullable List<PhaseTime<OperationPhase>> phases;

  @JsonPropertyDescription("What it left behind, once it is over.")
  private @Nullable Outcome outcome;

  @JsonPropertyDescription("Every reason for which it was refused or failed.")
  private @Nullable List<Fault> faults;

  @JsonPropertyDescription("In which state the workload is.")
  private @Nullable WorkloadState workload;

  @JsonPropertyDescription(
      "Whether the workload that was frozen runs, looked at and not remembered.")
  private @Nullable Truth sourceRunning;

  @JsonPropertyDescription(
      "Since when the workload is in that state, where that changed after the operation's end: one "
          + "that was left frozen is tried again until it runs.")
  private @Nullable Instant workloadTime;

  @JsonPropertyDescription("Number of its processes that run.")
  private @Nullable Integer sourceProcesses;

  @JsonPropertyDescription("Id of the container, as the runtime gives it.")
  private @Nullable String containerId;

  @JsonPropertyDescription("Image of the container, as a target pod has to name it.")
  private @Nullable String image;

  @JsonPropertyDescription("Since when the workload stands still, or stood.")
  private @Nullable Instant frozenTime;

  @JsonPropertyDescription("What the workload runs on, or what the holder got.")
  private @Nullable Hardware hardware;

  @JsonPropertyDescription("The artifact, once it is safe.")
  private @Nullable ArtifactStatus artifact;

  @JsonPropertyDescription("How long each part of the freeze took.")
  private @Nullable CheckpointTimings timings;

  @JsonPropertyDescription("How long each part of the restore took.")
  private @Nullable RestoreTimings restoreTimings;

  @JsonPropertyDescription("The way that the device memory took.")
  private @Nullable DataPath dataPath;

  @JsonPropertyDescription("Why that one.")
  private @Nullable String dataPathReason;

  @JsonPropertyDescription("Room for the device memory, as it was found before the freeze.")
  private @Nullable Room room;

  @JsonPropertyDescription("What the freeze would do, with explainOnly.")
  private @Nullable Explanation explanation;

  @JsonPropertyDescription("Why a restored workload counts as running.")
  private @Nullable Proof proof;

  @JsonPropertyDescription("Other containers of the pod.")
  private @Nullable List<String> otherContainers;

  @PreserveUnknownFields
  @JsonPropertyDescription("The pod in the artifact, as it was frozen; of an Import.")
  @JsonDeserialize(using = PackedObject.Reader.class)
  private @Nullable Map<String, Object> podTemplate;

  @JsonPropertyDescription("The container that is in the artifact; of an Import.")
  private @Nullable String containerName;

  @JsonPropertyDescription("Where the receiver of a stream listens, address and port.")
  private @Nullable String listening;

  @JsonPropertyDescription("How often a stream was taken up again.")
  private @Nullable Integer reconnects;

  @JsonPropertyDescription(
      "The workload's command line: command and args as the pod has them, with every $(NAME) "
          + "unexpanded, and the part that the image supplies. A target starts it when the restored "
          + "workload ends and is started again.")
  private @Nullable List<String> argv;

  public @Nullable Claim getClaimedBy() {
    return claimedBy;
  }

  public void setClaimedBy(@Nullable Claim claimedBy) {
    this.claimedBy = claimedBy;
  }

  public @Nullable OperationPhase getPhase() {
    return phase;
  }

  public void setPhase(@Nullable OperationPhase phase) {
    this.phase = phase;
  }

  public @Nullable List<PhaseTime<OperationPhase>> getPhases() {
    return phases;
  }

  public void setPhases(@Nullable List<PhaseTime<OperationPhase>> phases) {
    this.phases = phases;
  }

  public @Nullable Outcome getOutcome() {
    return outcome;
  }

  public void setOutcome(@Nullable Outcome outcome) {
    this.outcome = outcome;
  }

  public @Nullable List<Fault> getFaults() {
    return faults;
  }

  public void setFaults(@Nullable List<Fault> faults) {
    this.faults = faults;
  }

  public @Nullable WorkloadState getWorkload() {
    return workload;
  }

  public void setWorkload(@Nullable WorkloadState workload) {
    this.workload = workload;
  }

  public @Nullable Truth getSourceRunning() {
    return sourceRunning;
  }

  public void setSourceRunning(@Nullable Truth sourceRunning) {
    this.sourceRunning = sourceRunning;
  }

  public @Nullable Instant getWorkloadTime() {
    return workloadTime;
  }

  public void setWorkloadTime(@Nullable Instant workloadTime) {
    this.workloadTime = workloadTime;
  }

  public @Nullable Integer getSourceProcesses() {
    return sourceProcesses;
  }

  public void setSourceProcesses(@Nullable Integer sourceProcesses) {
    this.sourceProcesses = sourceProcesses;
  }

  public @Nullable String getContainerId() {
    return containerId;
  }

  public void setContainerId(@Nullable String containerId) {
    this.containerId = containerId;
  }

  public @Nullable String getImage() {
    return image;
  }

  public void setImage(@Nullable String image) {
    this.image = image;
  }

  public @Nullable Instant getFrozenTime() {
    return frozenTime;
  }

  public void setFrozenTime(@Nullable Instant frozenTime) {
    this.frozenTime = frozenTime;
  }

  public @Nullable Hardware getHardware() {
    return hardware;
  }

  public void setHardware(@Nullable Hardware hardware) {
    this.hardware = hardware;
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

  public @Nullable RestoreTimings getRestoreTimings() {
    return restoreTimings;
  }

  public void setRestoreTimings(@Nullable RestoreTimings restoreTimings) {
    this.restoreTimings = restoreTimings;
  }

  public @Nullable DataPath getDataPath() {
    return dataPath;
  }

  public void setDataPath(@Nullable DataPath dataPath) {
    this.dataPath = dataPath;
  }

  public @Nullable String getDataPathReason() {
    return dataPathReason;
  }

  public void setDataPathReason(@Nullable String dataPathReason) {
    this.dataPathReason = dataPathReason;
  }

  public @Nullable Room getRoom() {
    return room;
  }

  public void setRoom(@Nullable Room room) {
    this.room = room;
  }

  public @Nullable Explanation getExplanation() {
    return explanation;
  }

  public void setExplanation(@Nullable Explanation explanation) {
    this.explanation = explanation;
  }

  public @Nullable Proof getProof() {
    return proof;
  }

  public void setProof(@Nullable Proof proof) {
    this.proof = proof;
  }

  public @Nullable List<String> getOtherContainers() {
    return otherContainers;
  }

  public void setOtherContainers(@Nullable List<String> otherContainers) {
    this.otherContainers = otherContainers;
  }

  public @Nullable String getListening() {
    return listening;
  }

  public void setListening(@Nullable String listening) {
    this.listening = listening;
  }

  public @Nullable Integer getReconnects() {
    return reconnects;
  }

  public void setReconnects(@Nullable Integer reconnects) {
    this.reconnects = reconnects;
  }

  public @Nullable Map<String, Object> getPodTemplate() {
    return podTemplate;
  }

  public void setPodTemplate(@Nullable Map<String, Object> podTemplate) {
    this.podTemplate = podTemplate;
  }

  public @Nullable String getContainerName() {
    return containerName;
  }

  public void setContainerName(@Nullable String containerName) {
    this.containerName = containerName;
  }

  public @Nullable List<String> getArgv() {
    return argv;
  }

  public void setArgv(@Nullable List<String> argv) {
    this.argv = argv;
  }
}
