package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import dev.stasis.api.v1beta1.common.Fault;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** State of a node as reported by its agent. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuNodeStatus extends ConditionedStatus {
  @JsonPropertyDescription("The agent of the node.")
  private @Nullable AgentIdentity agent;

  @JsonPropertyDescription("Properties of the node.")
  private @Nullable NodeHost host;

  @JsonPropertyDescription("GPUs of the node, ordered by PCI bus ID.")
  private @Nullable List<NodeGpu> gpus;

  @JsonPropertyDescription("Links between the GPUs, one entry per pair.")
  private @Nullable List<GpuLink> links;

  @JsonPropertyDescription("Models of the GPUs.")
  private @Nullable String gpuModel;

  @JsonPropertyDescription("Number of GPUs.")
  private @Nullable Integer gpuCount;

  @JsonPropertyDescription("Topology that the node offers to pods, by number of GPUs.")
  private @Nullable List<NodeTopology> topologies;

  @JsonPropertyDescription("Capabilities of the agent on this node.")
  private @Nullable List<Capability> capabilities;

  @JsonPropertyDescription("Why the other capabilities are missing.")
  private @Nullable List<Fault> missing;

  @JsonPropertyDescription("Result of the agent's self-test.")
  private @Nullable SelfTest selfTest;

  @JsonPropertyDescription("Stores that the node can reach.")
  private @Nullable List<NodeStore> stores;

  @JsonPropertyDescription("Workloads that are frozen or suspended on the node.")
  private @Nullable List<FrozenWorkload> frozen;

  @JsonPropertyDescription("Number of frozen or suspended workloads.")
  private @Nullable Integer frozenPods;

  public @Nullable AgentIdentity getAgent() {
    return agent;
  }

  public void setAgent(@Nullable AgentIdentity agent) {
    this.agent = agent;
  }

  public @Nullable NodeHost getHost() {
    return host;
  }

  public void setHost(@Nullable NodeHost host) {
    this.host = host;
  }

  public @Nullable List<NodeGpu> getGpus() {
    return gpus;
  }

  public void setGpus(@Nullable List<NodeGpu> gpus) {
    this.gpus = gpus;
  }

  public @Nullable List<GpuLink> getLinks() {
    return links;
  }

  public void setLinks(@Nullable List<GpuLink> links) {
    this.links = links;
  }

  public @Nullable String getGpuModel() {
    return gpuModel;
  }

  public void setGpuModel(@Nullable String gpuModel) {
    this.gpuModel = gpuModel;
  }

  public @Nullable Integer getGpuCount() {
    return gpuCount;
  }

  public void setGpuCount(@Nullable Integer gpuCount) {
    this.gpuCount = gpuCount;
  }

  public @Nullable List<NodeTopology> getTopologies() {
    return topologies;
  }

  public void setTopologies(@Nullable List<NodeTopology> topologies) {
    this.topologies = topologies;
  }

  public @Nullable List<Capability> getCapabilities() {
    return capabilities;
  }

  public void setCapabilities(@Nullable List<Capability> capabilities) {
    this.capabilities = capabilities;
  }

  public @Nullable List<Fault> getMissing() {
    return missing;
  }

  public void setMissing(@Nullable List<Fault> missing) {
    this.missing = missing;
  }

  public @Nullable SelfTest getSelfTest() {
    return selfTest;
  }

  public void setSelfTest(@Nullable SelfTest selfTest) {
    this.selfTest = selfTest;
  }

  public @Nullable List<NodeStore> getStores() {
    return stores;
  }

  public void setStores(@Nullable List<NodeStore> stores) {
    this.stores = stores;
  }

  public @Nullable List<FrozenWorkload> getFrozen() {
    return frozen;
  }

  public void setFrozen(@Nullable List<FrozenWorkload> frozen) {
    this.frozen = frozen;
  }

  public @Nullable Integer getFrozenPods() {
    return frozenPods;
  }

  public void setFrozenPods(@Nullable Integer frozenPods) {
    this.frozenPods = frozenPods;
  }
}
