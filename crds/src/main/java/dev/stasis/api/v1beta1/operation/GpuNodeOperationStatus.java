package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.PackedObject;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.common.WorkStatus;
import io.fabric8.crd.generator.annotation.PreserveUnknownFields;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Observed state of an operation. Written only by the agent of the node. */
@ValidationRule(
    value =
        "!has(oldSelf.claimedBy) || (has(self.claimedBy) && self.claimedBy.time >= "
            + "oldSelf.claimedBy.time)",
    message = "claimedBy: cannot be unset",
    fieldPath = ".claimedBy")
@ValidationRule(
    value = "!has(oldSelf.outcome) || (has(self.outcome) && self.outcome == oldSelf.outcome)",
    message = "outcome: is immutable once set",
    fieldPath = ".outcome")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuNodeOperationStatus extends WorkStatus {
  @JsonPropertyDescription("Agent that claimed the operation, written by compare-and-swap.")
  private @Nullable Claim claimedBy;

  @JsonPropertyDescription("Current phase. For display; programs should use the conditions.")
  private @Nullable OperationPhase phase;

  @JsonPropertyDescription("Phases entered so far, each with its time.")
  private @Nullable List<PhaseTime<OperationPhase>> phases;

  @JsonPropertyDescription("Result of the finished operation.")
  private @Nullable Outcome outcome;

  @JsonPropertyDescription("Every reason why the request was refused or failed.")
  private @Nullable List<Fault> faults;

  @JsonPropertyDescription("Observed state of the workload.")
  private @Nullable WorkloadState workload;

  @JsonPropertyDescription("Whether the source workload runs, as observed on the node.")
  private @Nullable ConditionValue sourceRunning;

  @JsonPropertyDescription(
      "Time at which the state of the workload changed after the end of the operation. "
          + "If the workload was left frozen, the agent retries the thaw until it runs.")
  private @Nullable Instant workloadTime;

  @JsonPropertyDescription("Number of running processes of the workload.")
  private @Nullable Integer sourceProcesses;

  @JsonPropertyDescription("Container ID, as reported by the container runtime.")
  private @Nullable String containerId;

  @JsonPropertyDescription("Image of the container. The target pod must use the same one.")
  private @Nullable String image;

  @JsonPropertyDescription("Time at which the workload was frozen.")
  private @Nullable Instant frozenTime;

  @JsonPropertyDescription("Hardware and driver of the workload, or of the holder in a target pod.")
  private @Nullable Hardware hardware;

  @JsonPropertyDescription("The artifact, once it is stored and flushed.")
  private @Nullable ArtifactStatus artifact;

  @JsonPropertyDescription("Duration of each part of the freeze.")
  private @Nullable CheckpointTimings timings;

  @JsonPropertyDescription("Duration of each part of the restore.")
  private @Nullable RestoreTimings restoreTimings;

  @JsonPropertyDescription("Data path that was used for device memory.")
  private @Nullable DataPath dataPath;

  @JsonPropertyDescription("Why this data path was chosen.")
  private @Nullable String dataPathReason;

  @JsonPropertyDescription(
      "Host memory required for the device memory, determined before the freeze.")
  private @Nullable Room room;

  @JsonPropertyDescription("Result of the dry run, with dryRun.")
  private @Nullable Explanation explanation;

  @JsonPropertyDescription("Evidence that the restored workload runs.")
  private @Nullable Proof proof;

  @JsonPropertyDescription("Other containers of the pod.")
  private @Nullable List<String> otherContainers;

  @PreserveUnknownFields
  @JsonPropertyDescription("Template of the pod in the artifact, for Import.")
  @JsonDeserialize(using = PackedObject.Reader.class)
  private @Nullable Map<String, Object> podTemplate;

  @JsonPropertyDescription("Name of the container in the artifact, for Import.")
  private @Nullable String containerName;

  @JsonPropertyDescription("Address and port on which the receiver of a stream listens.")
  private @Nullable String listening;

  @JsonPropertyDescription("Number of times a stream was reconnected.")
  private @Nullable Integer reconnects;

  @JsonPropertyDescription(
      "Command line of the workload: command and args of the pod with every $(NAME) "
          + "unexpanded, and what the image supplies. The target pod runs it when its "
          + "container restarts after the restore.")
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

  public @Nullable ConditionValue getSourceRunning() {
    return sourceRunning;
  }

  public void setSourceRunning(@Nullable ConditionValue sourceRunning) {
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
