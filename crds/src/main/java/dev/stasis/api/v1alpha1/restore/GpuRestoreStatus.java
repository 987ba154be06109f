package dev.stasis.api.v1alpha1.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.NodeVerdict;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.common.Proof;
import dev.stasis.api.v1alpha1.common.RestoreTimings;
import dev.stasis.api.v1alpha1.common.WorkStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What became of it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuRestoreStatus extends WorkStatus {
  @JsonPropertyDescription("Where it is.")
  private @Nullable RestorePhase phase;

  @JsonPropertyDescription("Every phase that it entered, with the time.")
  private @Nullable List<PhaseTime<RestorePhase>> phases;

  @JsonPropertyDescription("The target pod.")
  private @Nullable ObservedPod pod;

  @JsonPropertyDescription("What the target got.")
  private @Nullable Hardware hardware;

  @JsonPropertyDescription("Why the workload counts as running.")
  private @Nullable Proof proof;

  @JsonPropertyDescription("How long each part took.")
  private @Nullable RestoreTimings timings;

  @JsonPropertyDescription("Every reason for which it was refused or failed.")
  private @Nullable List<Fault> faults;

  @JsonPropertyDescription("Number of nodes that fit.")
  private @Nullable Integer nodesFit;

  @JsonPropertyDescription("Number of nodes with GPUs.")
  private @Nullable Integer nodesKnown;

  @JsonPropertyDescription("What stands against each node, while none fits; at most 100.")
  private @Nullable List<NodeVerdict> nodes;

  @JsonPropertyDescription("Nodes on which the target got GPUs that do not fit.")
  private @Nullable List<ExcludedNode> excludedNodes;

  @JsonPropertyDescription("How many target pods were made.")
  private @Nullable Integer attempts;

  @JsonPropertyDescription("How often the restored container started again later.")
  private @Nullable Integer restarts;

  @JsonPropertyDescription("Containers of the pod that started anew.")
  private @Nullable List<String> otherContainers;

  @JsonPropertyDescription("Name of the GpuNodeOperation in hand, in the operator's namespace.")
  private @Nullable String operation;

  public @Nullable RestorePhase getPhase() {
    return phase;
  }

  public void setPhase(@Nullable RestorePhase phase) {
    this.phase = phase;
  }

  public @Nullable List<PhaseTime<RestorePhase>> getPhases() {
    return phases;
  }

  public void setPhases(@Nullable List<PhaseTime<RestorePhase>> phases) {
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

  public @Nullable Proof getProof() {
    return proof;
  }

  public void setProof(@Nullable Proof proof) {
    this.proof = proof;
  }

  public @Nullable RestoreTimings getTimings() {
    return timings;
  }

  public void setTimings(@Nullable RestoreTimings timings) {
    this.timings = timings;
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

  public @Nullable List<ExcludedNode> getExcludedNodes() {
    return excludedNodes;
  }

  public void setExcludedNodes(@Nullable List<ExcludedNode> excludedNodes) {
    this.excludedNodes = excludedNodes;
  }

  public @Nullable Integer getAttempts() {
    return attempts;
  }

  public void setAttempts(@Nullable Integer attempts) {
    this.attempts = attempts;
  }

  public @Nullable Integer getRestarts() {
    return restarts;
  }

  public void setRestarts(@Nullable Integer restarts) {
    this.restarts = restarts;
  }

  public @Nullable List<String> getOtherContainers() {
    return otherContainers;
  }

  public void setOtherContainers(@Nullable List<String> otherContainers) {
    this.otherContainers = otherContainers;
  }

  public @Nullable String getOperation() {
    return operation;
  }

  public void setOperation(@Nullable String operation) {
    this.operation = operation;
  }
}
