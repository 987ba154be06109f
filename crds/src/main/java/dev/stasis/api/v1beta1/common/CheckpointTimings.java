package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** Duration of each part of a freeze. Unknown durations are absent. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class CheckpointTimings {
  @JsonPropertyDescription("From the creation of the object until the agent started.")
  private @Nullable Long waitedMilliseconds;

  @JsonPropertyDescription("Hooks before the freeze.")
  private @Nullable Long hooksMilliseconds;

  @JsonPropertyDescription("Driver: lock, until the GPU has finished its work.")
  private @Nullable Long lockMilliseconds;

  @JsonPropertyDescription("Driver: GPU checkpoint, device memory to host memory.")
  private @Nullable Long gpuCheckpointMilliseconds;

  @JsonPropertyDescription("Saving the device memory and other large private memory.")
  private @Nullable Long moveMilliseconds;

  @JsonPropertyDescription("CRIU: dump of the processes.")
  private @Nullable Long dumpMilliseconds;

  @JsonPropertyDescription("Packing the writable layer, /dev/shm and emptyDirs.")
  private @Nullable Long layerMilliseconds;

  @JsonPropertyDescription("Digests, flush and publication of the artifact.")
  private @Nullable Long storeMilliseconds;

  @JsonPropertyDescription("Restoring the saved memory regions.")
  private @Nullable Long fillMilliseconds;

  @JsonPropertyDescription(
      "Driver: GPU restore and unlock, until the workload runs. For a suspended "
          + "workload: of the last resume.")
  private @Nullable Long resumeMilliseconds;

  @JsonPropertyDescription("Freeze time that is not covered by the other parts.")
  private @Nullable Long unaccountedMilliseconds;

  @JsonPropertyDescription("From the beginning of the freeze until the GPU memory was free.")
  private @Nullable Long freedMilliseconds;

  @JsonPropertyDescription("Total freeze time.")
  private @Nullable Long frozenMilliseconds;

  @JsonPropertyDescription("Human-readable freeze time, such as 14.1s.")
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
