package dev.stasis.api.v1alpha1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.CheckpointTimings;
import dev.stasis.api.v1alpha1.common.DataPath;
import dev.stasis.api.v1alpha1.common.Explanation;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.NodeVerdict;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PackedObject;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Room;
import dev.stasis.api.v1alpha1.common.WorkStatus;
import io.fabric8.crd.generator.annotation.PreserveUnknownFields;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What became of it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStatus extends WorkStatus {
  @JsonPropertyDescription("Where it is.")
  private @Nullable CheckpointPhase phase;

  @JsonPropertyDescription("Every phase that it entered, with the time.")
  private @Nullable List<PhaseTime<CheckpointPhase>> phases;

  @JsonPropertyDescription("The pod that is frozen.")
  private @Nullable ObservedPod pod;

  @JsonPropertyDescription("What the workload ran on.")
  private @Nullable Hardware hardware;

  @JsonPropertyDescription("The artifact, once it is safe.")
  private @Nullable ArtifactStatus artifact;

  @JsonPropertyDescription("How long each part took.")
  private @Nullable CheckpointTimings timings;

  @JsonPropertyDescription("The way that the device memory took.")
  private @Nullable DataPath dataPath;

  @JsonPropertyDescription("Why that one.")
  private @Nullable String dataPathReason;

  @JsonPropertyDescription("What the freeze would do, with explainOnly.")
  private @Nullable Explanation explanation;

  @JsonPropertyDescription("Room for the device memory inside the pod's memory limit.")
  private @Nullable Room room;

  @JsonPropertyDescription("Every reason for which it was refused or failed.")
  private @Nullable List<Fault> faults;

  @JsonPropertyDescription("Number of nodes that fit, when Restorable last changed.")
  private @Nullable Integer nodesFit;

  @JsonPropertyDescription("Number of nodes with GPUs.")
  private @Nullable Integer nodesKnown;

  @JsonPropertyDescription(
      "Nodes to which it could be restored, and what stands against the others; at "
          + "most 100, those that fit first.")
  private @Nullable List<NodeVerdict> nodes;

  @JsonPropertyDescription("Containers of the pod that would start anew in a restored one.")
  private @Nullable List<String> otherContainers;

  @PreserveUnknownFields
  @JsonPropertyDescription(
      "The pod as it was, for reading only: the one that counts lies in the artifact.")
  @JsonDeserialize(using = PackedObject.Reader.class)
  private @Nullable Map<String, Object> podTemplate;

  @JsonPropertyDescription("Name of the GpuNodeOperation in hand, in the operator's namespace.")
  private @Nullable String operation;

  @JsonPropertyDescription("How often the workload was suspended.")
  private @Nullable Integer suspensions;

  @JsonPropertyDescription("Since when the workload is suspended.")
  private @Nullable Instant suspendedTime;

  @JsonPropertyDescription("Its turn on the GPUs, with turnSlice.")
  private @Nullable GpuTurn turn;

  @JsonPropertyDescription(
      "Objects that need the artifact: it is not deleted before they are done.")
  private @Nullable List<ObjectReference> inUseBy;

  @JsonPropertyDescription(
      "The workload's command line: command and args as the pod has them, with every $(NAME) "
          + "unexpanded, and the part that the image supplies. A target starts it when the restored "
          + "workload ends and is started again.")
  private @Nullable List<String> argv;

  public @Nullable CheckpointPhase getPhase() {
    return phase;
  }

  public void setPhase(@Nullable CheckpointPhase phase) {
    this.phase = phase;
  }

  public @Nullable List<PhaseTime<CheckpointPhase>> getPhases() {
    return phases;
  }

  public void setPhases(@Nullable List<PhaseTime<CheckpointPhase>> phases) {
    this.phases = phases;
  }

  public @Nullable ObservedPod getPod() {
    return pod;
  }

  public void setPod(@Nullable ObservedPod pod) {
    this.pod = pod;
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
