package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.ConditionedStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the store holds. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStoreStatus extends ConditionedStatus {
  @JsonPropertyDescription("Bytes of all artifacts.")
  private @Nullable Long usedBytes;

  @JsonPropertyDescription("The same, for people.")
  private @Nullable String used;

  @JsonPropertyDescription("Bytes that can still be used; of the fullest node for nodeLocal.")
  private @Nullable Long freeBytes;

  @JsonPropertyDescription("The same, for people.")
  private @Nullable String free;

  @JsonPropertyDescription("Number of artifacts.")
  private @Nullable Integer artifacts;

  @JsonPropertyDescription("NodeLocal, SharedPath or S3.")
  private @Nullable String type;

  @JsonPropertyDescription("What each namespace uses.")
  private @Nullable List<NamespaceUsage> namespaces;

  @JsonPropertyDescription(
      "What lies on each node, for nodeLocal; for sharedPath, which nodes reach it.")
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
