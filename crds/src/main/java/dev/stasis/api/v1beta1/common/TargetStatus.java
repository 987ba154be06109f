package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Status fields of a request that creates a target pod. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public abstract class TargetStatus extends WorkStatus {
  @JsonPropertyDescription("Number of target pods created.")
  private @Nullable Integer attempts;

  @JsonPropertyDescription("Number of nodes that could restore the workload.")
  private @Nullable Integer nodesFit;

  @JsonPropertyDescription("Number of nodes with GPUs.")
  private @Nullable Integer nodesKnown;

  @JsonPropertyDescription("Why each node does not fit, while none fits. At most 100.")
  private @Nullable List<NodeVerdict> nodes;

  @JsonPropertyDescription("Other containers of the pod. They started from their images.")
  private @Nullable List<String> otherContainers;

  @JsonPropertyDescription("Every reason why the request was refused or failed.")
  private @Nullable List<Fault> faults;

  public @Nullable Integer getAttempts() {
    return attempts;
  }

  public void setAttempts(@Nullable Integer attempts) {
    this.attempts = attempts;
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

  public @Nullable List<Fault> getFaults() {
    return faults;
  }

  public void setFaults(@Nullable List<Fault> faults) {
    this.faults = faults;
  }
}
