package dev.stasis.api.v1beta1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.NodeVerdict;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PackedObject;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.PhasedStatus;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.common.WorkStatus;
import io.fabric8.crd.generator.annotation.PreserveUnknownFields;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Observed state. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStatus extends WorkStatus implements PhasedStatus<CheckpointPhase> {
  @JsonPropertyDescription("Current phase. For display; programs should use the conditions.")
  private @Nullable CheckpointPhase phase;

  @JsonPropertyDescription("Phases entered so far, each with its time.")
  private @Nullable List<PhaseTime<CheckpointPhase>> phases;

  @JsonPropertyDescription("The pod that is checkpointed.")
  private @Nullable ObservedPod pod;

  @JsonPropertyDescription(
      "Time at which the workload started: its container, or that of the pod from which it was "
          + "restored. Retention keeps the newest checkpoint of the workload that ran longest.")
  private @Nullable Instant workloadStartTime;

  @JsonPropertyDescription("Hardware and driver on which the workload ran.")
  private @Nullable Hardware hardware;

  @JsonPropertyDescription("The artifact, once it is stored and flushed.")
  private @Nullable ArtifactStatus artifact;

  @JsonPropertyDescription(
      "Time at which every byte of the artifact in its store was last read and compared. The "
          + "condition Restorable reports damage (ArtifactDamaged).")
  private @Nullable Instant lastVerified;

  @JsonPropertyDescription("Duration of each part.")
  private @Nullable CheckpointTimings timings;

  @JsonPropertyDescription("Data path that was used for device memory.")
  private @Nullable DataPath dataPath;

  @JsonPropertyDescription("Why this data path was chosen.")
  private @Nullable String dataPathReason;

  @JsonPropertyDescription("Result of the dry run, with options.dryRun.")
  private @Nullable Explanation explanation;

  @JsonPropertyDescription(
      "Host memory required for the device memory, within the pod's memory limit.")
  private @Nullable Room room;

  @JsonPropertyDescription("Every reason why the request was refused or failed.")
  private @Nullable List<Fault> faults;

  @JsonPropertyDescription(
      "Number of nodes that could restore the workload when the condition Restorable "
          + "last changed.")
  private @Nullable Integer nodesFit;

  @JsonPropertyDescription("Number of nodes with GPUs.")
  private @Nullable Integer nodesKnown;

  @JsonPropertyDescription(
      "Nodes with GPUs, and why the workload could not be restored on each of them. At "
          + "most 100; nodes that fit come first.")
  private @Nullable List<NodeVerdict> nodes;

  @JsonPropertyDescription(
      "Other containers of the pod. They start from their images in a restored pod.")
  private @Nullable List<String> otherContainers;

  @PreserveUnknownFields
  @JsonPropertyDescription(
      "Template of the checkpointed pod, for information. A restore uses the copy in "
          + "the artifact.")
  @JsonDeserialize(using = PackedObject.Reader.class)
  private @Nullable Map<String, Object> podTemplate;

  @JsonPropertyDescription("Name of the active GpuNodeOperation, in the operator's namespace.")
  private @Nullable String operation;

  @JsonPropertyDescription("Number of times the workload was suspended.")
  private @Nullable Integer suspensions;

  @JsonPropertyDescription("Time at which the workload was suspended.")
  private @Nullable Instant suspendedTime;

  @JsonPropertyDescription("State of time slicing, with options.timeSlice.")
  private @Nullable GpuTurn turn;

  @JsonPropertyDescription(
      "Objects that are using the artifact. It is not deleted until they finish.")
  private @Nullable List<ObjectReference> inUseBy;

  @JsonPropertyDescription(
      "Command line of the workload: command and args of the pod with every $(NAME) "
          + "unexpanded, and what the image supplies. The target pod runs it when its "
          + "container restarts after the restore.")
  private @Nullable List<String> argv;

  @Override
  public @Nullable CheckpointPhase getPhase() {
    return phase;
  }

  @Override
  public void setPhase(@Nullable CheckpointPhase phase) {
    this.phase = phase;
  }

  @Override
  public @Nullable List<PhaseTime<CheckpointPhase>> getPhases() {
    return phases;
  }

  @Override
  public void setPhases(@Nullable List<PhaseTime<CheckpointPhase>> phases) {
    this.phases = phases;
  }

  public @Nullable ObservedPod getPod() {
    return pod;
  }

  public void setPod(@Nullable ObservedPod pod) {
    this.pod = pod;
  }

  public @Nullable Instant getWorkloadStartTime() {
    return workloadStartTime;
  }

  public void setWorkloadStartTime(@Nullable Instant workloadStartTime) {
    this.workloadStartTime = workloadStartTime;
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

  public @Nullable Instant getLastVerified() {
    return lastVerified;
  }

  public void setLastVerified(@Nullable Instant lastVerified) {
    this.lastVerified = lastVerified;
  }

  public @Nullable CheckpointTimings getTimings() {
    return timings;
  }

  public void setTimings(@Nullable CheckpointTimings timings) {
    this.timings = timings;
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

  public @Nullable Explanation getExplanation() {
    return explanation;
  }

  public void setExplanation(@Nullable Explanation explanation) {
    this.explanation = explanation;
  }

  public @Nullable Room getRoom() {
    return room;
  }

  public void setRoom(@Nullable Room room) {
    this.room = room;
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

  public @Nullable List<String> getOtherContainers() {
    return otherContainers;
  }

  public void setOtherContainers(@Nullable List<String> otherContainers) {
    this.otherContainers = otherContainers;
  }

  public @Nullable Map<String, Object> getPodTemplate() {
    return podTemplate;
  }

  public void setPodTemplate(@Nullable Map<String, Object> podTemplate) {
    this.podTemplate = podTemplate;
  }

  public @Nullable String getOperation() {
    return operation;
  }

  public void setOperation(@Nullable String operation) {
    this.operation = operation;
  }

  public @Nullable Integer getSuspensions() {
    return suspensions;
  }

  public void setSuspensions(@Nullable Integer suspensions) {
    this.suspensions = suspensions;
  }

  public @Nullable Instant getSuspendedTime() {
    return suspendedTime;
  }

  public void setSuspendedTime(@Nullable Instant suspendedTime) {
    this.suspendedTime = suspendedTime;
  }

  public @Nullable GpuTurn getTurn() {
    return turn;
  }

  public void setTurn(@Nullable GpuTurn turn) {
    this.turn = turn;
  }

  public @Nullable List<ObjectReference> getInUseBy() {
    return inUseBy;
  }

  public void setInUseBy(@Nullable List<ObjectReference> inUseBy) {
    this.inUseBy = inUseBy;
  }

  public @Nullable List<String> getArgv() {
    return argv;
  }

  public void setArgv(@Nullable List<String> argv) {
    this.argv = argv;
  }
}
