package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state of a GpuCheckpointStore. */
@ValidationRule(
    value =
        "!has(oldSelf.volume) || !has(oldSelf.volume.id) || (has(self.volume) && "
            + "has(self.volume.id) && self.volume.id == oldSelf.volume.id)",
    message = "volume.id: cannot be changed, since artifacts would be out of reach",
    fieldPath = ".volume")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointStoreStatus extends ConditionedStatus {
  @JsonPropertyDescription(
      "Bytes that count against the quota: of all artifacts, or of what a remote store holds.")
  private @Nullable Long usedBytes;

  @JsonPropertyDescription("Human-readable size.")
  private @Nullable String used;

  @JsonPropertyDescription("Size of all artifacts before compression, in bytes.")
  private @Nullable Long logicalBytes;

  @JsonPropertyDescription("Human-readable size.")
  private @Nullable String logical;

  @JsonPropertyDescription(
      "Ratio of logical to used bytes, such as 2.4: the savings of a remote store by compression"
          + " and deduplication.")
  private @Nullable String ratio;

  @JsonPropertyDescription(
      "The quota of all namespaces, else the size of the file system; for location.nodeLocal that"
          + " of all nodes together. Unset for a bucket without a quota.")
  private @Nullable Long capacityBytes;

  @JsonPropertyDescription("Human-readable size.")
  private @Nullable String capacity;

  @JsonPropertyDescription("Bytes that a remote store held at measuredTime.")
  private @Nullable Long storedBytes;

  @JsonPropertyDescription("Time at which a node last measured the content of the remote store.")
  private @Nullable Instant measuredTime;

  @JsonPropertyDescription("Bytes still available; for location.nodeLocal, on the fullest node.")
  private @Nullable Long freeBytes;

  @JsonPropertyDescription("Human-readable size.")
  private @Nullable String free;

  @JsonPropertyDescription("Number of artifacts.")
  private @Nullable Integer artifacts;

  @JsonPropertyDescription("Type of the store: NodeLocal, SharedPath, PersistentVolumeClaim or S3.")
  private @Nullable String type;

  @JsonPropertyDescription("Usage by namespace.")
  private @Nullable List<NamespaceUsage> namespaces;

  @JsonPropertyDescription(
      "Usage by node for location.nodeLocal; otherwise the nodes that can reach the store.")
  private @Nullable List<NodeUsage> nodes;

  @JsonPropertyDescription("The volume of a store with location.persistentVolumeClaim.")
  private @Nullable VolumeStatus volume;

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

  public @Nullable Long getLogicalBytes() {
    return logicalBytes;
  }

  public void setLogicalBytes(@Nullable Long logicalBytes) {
    this.logicalBytes = logicalBytes;
  }

  public @Nullable String getLogical() {
    return logical;
  }

  public void setLogical(@Nullable String logical) {
    this.logical = logical;
  }

  public @Nullable String getRatio() {
    return ratio;
  }

  public void setRatio(@Nullable String ratio) {
    this.ratio = ratio;
  }

  public @Nullable Long getCapacityBytes() {
    return capacityBytes;
  }

  public void setCapacityBytes(@Nullable Long capacityBytes) {
    this.capacityBytes = capacityBytes;
  }

  public @Nullable String getCapacity() {
    return capacity;
  }

  public void setCapacity(@Nullable String capacity) {
    this.capacity = capacity;
  }

  public @Nullable Long getStoredBytes() {
    return storedBytes;
  }

  public void setStoredBytes(@Nullable Long storedBytes) {
    this.storedBytes = storedBytes;
  }

  public @Nullable Instant getMeasuredTime() {
    return measuredTime;
  }

  public void setMeasuredTime(@Nullable Instant measuredTime) {
    this.measuredTime = measuredTime;
  }

  public @Nullable VolumeStatus getVolume() {
    return volume;
  }

  public void setVolume(@Nullable VolumeStatus volume) {
    this.volume = volume;
  }
}
