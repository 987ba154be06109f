package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state of a GpuCheckpointStore. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStoreStatus extends ConditionedStatus {
  @JsonPropertyDescription("Total size of all artifacts, in bytes.")
  private @Nullable Long usedBytes;

  @JsonPropertyDescription("Human-readable size.")
  private @Nullable String used;

  @JsonPropertyDescription("Bytes still available; for nodeLocal, on the fullest node.")
  private @Nullable Long freeBytes;

  @JsonPropertyDescription("Human-readable size.")
  private @Nullable String free;

  @JsonPropertyDescription("Number of artifacts.")
  private @Nullable Integer artifacts;

  @JsonPropertyDescription("Type of the store: NodeLocal or SharedPath.")
  private @Nullable String type;

  @JsonPropertyDescription("Usage by namespace.")
  private @Nullable List<NamespaceUsage> namespaces;

  @JsonPropertyDescription(
      "Usage by node for nodeLocal; for sharedPath, the nodes that can reach the store.")
  private @Nullable List<NodeUsage> nodes;

  public @Nullable Long getUsedBytes() {
    return usedBytes;
  }

  public void setUsedBytes(@Nullable Long usedBytes) {
    this.usedBytes = usedBytes;
  }

  public @Nullable String getUsed() {
    return used;
  }

  public void setUsed(@Nullable String used) {
    this.used = used;
  }

  public @Nullable Long getFreeBytes() {
    return freeBytes;
  }

  public void setFreeBytes(@Nullable Long freeBytes) {
    this.freeBytes = freeBytes;
  }

  public @Nullable String getFree() {
    return free;
  }

  public void setFree(@Nullable String free) {
    this.free = free;
  }

  public @Nullable Integer getArtifacts() {
    return artifacts;
  }

  public void setArtifacts(@Nullable Integer artifacts) {
    this.artifacts = artifacts;
  }

  public @Nullable String getType() {
    return type;
  }

  public void setType(@Nullable String type) {
    this.type = type;
  }

  public @Nullable List<NamespaceUsage> getNamespaces() {
    return namespaces;
  }

  public void setNamespaces(@Nullable List<NamespaceUsage> namespaces) {
    this.namespaces = namespaces;
  }

  public @Nullable List<NodeUsage> getNodes() {
    return nodes;
  }

  public void setNodes(@Nullable List<NodeUsage> nodes) {
    this.nodes = nodes;
  }
}
