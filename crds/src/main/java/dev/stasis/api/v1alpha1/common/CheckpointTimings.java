package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** How long each part of a freeze took. What is not known is not there. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class CheckpointTimings {
  @JsonPropertyDescription("From the creation of the object until the agent began.")
  private @Nullable Long waitedMilliseconds;

  @JsonPropertyDescription("Hooks before the freeze.")
  private @Nullable Long hooksMilliseconds;

  @JsonPropertyDescription("Driver: lock, until no work is in flight.")
  private @Nullable Long lockMilliseconds;

  @JsonPropertyDescription("Driver: device memory into the memory of the process.")
  private @Nullable Long gpuCheckpointMilliseconds;

  @JsonPropertyDescription("Copying and dropping the device regions.")
  private @Nullable Long moveMilliseconds;

  @JsonPropertyDescription("criu: dump of the processes.")
  private @Nullable Long dumpMilliseconds;

  @JsonPropertyDescription("Packing the writable layer, /dev/shm and emptyDirs.")
  private @Nullable Long layerMilliseconds;

  @JsonPropertyDescription("Digests, flush and publication of the artifact.")
  private @Nullable Long storeMilliseconds;

  @JsonPropertyDescription("Filling the device regions again.")
  private @Nullable Long fillMilliseconds;

  @JsonPropertyDescription(
      "Restore and unlock by the driver, until the workload runs; of a suspended one the last "
          + "time.")
  private @Nullable Long resumeMilliseconds;

  @JsonPropertyDescription("Part of the frozen time that none of the steps accounts for.")
  private @Nullable Long unaccountedMilliseconds;

  @JsonPropertyDescription("From the order until the memory of the GPUs was free.")
  private @Nullable Long freedMilliseconds;

  @JsonPropertyDescription("How long the workload stood still.")
  private @Nullable Long frozenMilliseconds;

  @JsonPropertyDescription("The same, for people: 14.1s.")
  private @Nullable String frozen;

  public @Nullable Long getWaitedMilliseconds() {
    return waitedMilliseconds;
  }

  public void setWaitedMilliseconds(@Nullable Long waitedMilliseconds) {
    this.waitedMilliseconds = waitedMilliseconds;
  }

  public @Nullable Long getHooksMilliseconds() {
    return hooksMilliseconds;
  }

  public void setHooksMilliseconds(@Nullable Long hooksMilliseconds) {
    this.hooksMilliseconds = hooksMilliseconds;
  }

  public @Nullable Long getLockMilliseconds() {
    return lockMilliseconds;
  }

  public void setLockMilliseconds(@Nullable Long lockMilliseconds) {
    this.lockMilliseconds = lockMilliseconds;
  }

  public @Nullable Long getGpuCheckpointMilliseconds() {
    return gpuCheckpointMilliseconds;
  }

  public void setGpuCheckpointMilliseconds(@Nullable Long gpuCheckpointMilliseconds) {
    this.gpuCheckpointMilliseconds = gpuCheckpointMilliseconds;
  }

  public @Nullable Long getMoveMilliseconds() {
    return moveMilliseconds;
  }

  public void setMoveMilliseconds(@Nullable Long moveMilliseconds) {
    this.moveMilliseconds = moveMilliseconds;
  }

  public @Nullable Long getDumpMilliseconds() {
    return dumpMilliseconds;
  }

  public void setDumpMilliseconds(@Nullable Long dumpMilliseconds) {
    this.dumpMilliseconds = dumpMilliseconds;
  }

  public @Nullable Long getLayerMilliseconds() {
    return layerMilliseconds;
  }

  public void setLayerMilliseconds(@Nullable Long layerMilliseconds) {
    this.layerMilliseconds = layerMilliseconds;
  }

  public @Nullable Long getStoreMilliseconds() {
    return storeMilliseconds;
  }

  public void setStoreMilliseconds(@Nullable Long storeMilliseconds) {
    this.storeMilliseconds = storeMilliseconds;
  }

  public @Nullable Long getFillMilliseconds() {
    return fillMilliseconds;
  }

  public void setFillMilliseconds(@Nullable Long fillMilliseconds) {
    this.fillMilliseconds = fillMilliseconds;
  }

  public @Nullable Long getResumeMilliseconds() {
    return resumeMilliseconds;
  }

  public void setResumeMilliseconds(@Nullable Long resumeMilliseconds) {
    this.resumeMilliseconds = resumeMilliseconds;
  }

  public @Nullable Long getUnaccountedMilliseconds() {
    return unaccountedMilliseconds;
  }

  public void setUnaccountedMilliseconds(@Nullable Long unaccountedMilliseconds) {
    this.unaccountedMilliseconds = unaccountedMilliseconds;
  }

  public @Nullable Long getFreedMilliseconds() {
    return freedMilliseconds;
  }

  public void setFreedMilliseconds(@Nullable Long freedMilliseconds) {
    this.freedMilliseconds = freedMilliseconds;
  }

  public @Nullable Long getFrozenMilliseconds() {
    return frozenMilliseconds;
  }

  public void setFrozenMilliseconds(@Nullable Long frozenMilliseconds) {
    this.frozenMilliseconds = frozenMilliseconds;
  }

  public @Nullable String getFrozen() {
    return frozen;
  }

  public void setFrozen(@Nullable String frozen) {
    this.frozen = frozen;
  }
}
