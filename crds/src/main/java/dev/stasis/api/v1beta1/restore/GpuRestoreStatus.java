package dev.stasis.api.v1beta1.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.PhasedStatus;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.api.v1beta1.common.TargetStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuRestoreStatus extends TargetStatus implements PhasedStatus<RestorePhase> {
  @JsonPropertyDescription("Current phase. For display; programs should use the conditions.")
  private @Nullable RestorePhase phase;

  @JsonPropertyDescription("Phases entered so far, each with its time.")
  private @Nullable List<PhaseTime<RestorePhase>> phases;

  @JsonPropertyDescription("The target pod.")
  private @Nullable ObservedPod pod;

  @JsonPropertyDescription("Hardware and driver of the target pod.")
  private @Nullable Hardware hardware;

  @JsonPropertyDescription("Evidence that the workload runs.")
  private @Nullable Proof proof;

  @JsonPropertyDescription("Duration of each part.")
  private @Nullable RestoreTimings timings;

  @JsonPropertyDescription("Nodes that were tried and assigned incompatible GPUs to the target.")
  private @Nullable List<ExcludedNode> excludedNodes;

  @JsonPropertyDescription("Number of restarts of the container after the restore.")
  private @Nullable Integer restarts;

  @JsonPropertyDescription("Name of the active GpuNodeOperation, in the operator's namespace.")
  private @Nullable String operation;

  @Override
  public @Nullable RestorePhase getPhase() {
    return phase;
  }

  @Override
  public void setPhase(@Nullable RestorePhase phase) {
    this.phase = phase;
  }

  @Override
  public @Nullable List<PhaseTime<RestorePhase>> getPhases() {
    return phases;
  }

  @Override
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

  public @Nullable List<ExcludedNode> getExcludedNodes() {
    return excludedNodes;
  }

  public void setExcludedNodes(@Nullable List<ExcludedNode> excludedNodes) {
    this.excludedNodes = excludedNodes;
  }

  public @Nullable Integer getRestarts() {
    return restarts;
  }

  public void setRestarts(@Nullable Integer restarts) {
    this.restarts = restarts;
  }

  public @Nullable String getOperation() {
    return operation;
  }

  public void setOperation(@Nullable String operation) {
    this.operation = operation;
  }
}
