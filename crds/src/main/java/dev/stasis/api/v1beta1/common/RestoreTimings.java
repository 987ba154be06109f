package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/** Duration of each part of a restore. Unknown durations are absent. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class RestoreTimings {
  @JsonPropertyDescription("From the creation of the object until the target pod was created.")
  private @Nullable Long waitedMilliseconds;

  @JsonPropertyDescription("Until the target pod was scheduled.")
  private @Nullable Long scheduleMilliseconds;

  @JsonPropertyDescription("Until the holder container in the target pod ran.")
  private @Nullable Long startMilliseconds;

  @JsonPropertyDescription("Unpacking the writable layer, /dev/shm and emptyDirs.")
  private @Nullable Long layerMilliseconds;

  @JsonPropertyDescription("CRIU: restore of the processes.")
  private @Nullable Long restoreMilliseconds;

  @JsonPropertyDescription("Restoring the saved memory regions.")
  private @Nullable Long fillMilliseconds;

  @JsonPropertyDescription("Driver: GPU restore and unlock.")
  private @Nullable Long gpuRestoreMilliseconds;

  @JsonPropertyDescription(
      "From the claim of the operation until the workload was verified to" + " run.")
  private @Nullable Long proofMilliseconds;

  @JsonPropertyDescription("Time until the verification that is not covered by the other parts.")
  private @Nullable Long unaccountedMilliseconds;

  @JsonPropertyDescription("From the start of the holder until the workload was verified to run.")
  private @Nullable Long tookMilliseconds;

  @JsonPropertyDescription("Human-readable duration, such as 6.9s.")
  private @Nullable String took;

  public @Nullable Long getWaitedMilliseconds() {
    return waitedMilliseconds;
  }

  public void setWaitedMilliseconds(@Nullable Long waitedMilliseconds) {
    this.waitedMilliseconds = waitedMilliseconds;
  }

  public @Nullable Long getScheduleMilliseconds() {
    return scheduleMilliseconds;
  }

  public void setScheduleMilliseconds(@Nullable Long scheduleMilliseconds) {
    this.scheduleMilliseconds = scheduleMilliseconds;
  }

  public @Nullable Long getStartMilliseconds() {
    return startMilliseconds;
  }

  public void setStartMilliseconds(@Nullable Long startMilliseconds) {
    this.startMilliseconds = startMilliseconds;
  }

  public @Nullable Long getLayerMilliseconds() {
    return layerMilliseconds;
  }

  public void setLayerMilliseconds(@Nullable Long layerMilliseconds) {
    this.layerMilliseconds = layerMilliseconds;
  }

  public @Nullable Long getRestoreMilliseconds() {
    return restoreMilliseconds;
  }

  public void setRestoreMilliseconds(@Nullable Long restoreMilliseconds) {
    this.restoreMilliseconds = restoreMilliseconds;
  }

  public @Nullable Long getFillMilliseconds() {
    return fillMilliseconds;
  }

  public void setFillMilliseconds(@Nullable Long fillMilliseconds) {
    this.fillMilliseconds = fillMilliseconds;
  }

  public @Nullable Long getGpuRestoreMilliseconds() {
    return gpuRestoreMilliseconds;
  }

  public void setGpuRestoreMilliseconds(@Nullable Long gpuRestoreMilliseconds) {
    this.gpuRestoreMilliseconds = gpuRestoreMilliseconds;
  }

  public @Nullable Long getProofMilliseconds() {
    return proofMilliseconds;
  }

  public void setProofMilliseconds(@Nullable Long proofMilliseconds) {
    this.proofMilliseconds = proofMilliseconds;
  }

  public @Nullable Long getUnaccountedMilliseconds() {
    return unaccountedMilliseconds;
  }

  public void setUnaccountedMilliseconds(@Nullable Long unaccountedMilliseconds) {
    this.unaccountedMilliseconds = unaccountedMilliseconds;
  }

  public @Nullable Long getTookMilliseconds() {
    return tookMilliseconds;
  }

  public void setTookMilliseconds(@Nullable Long tookMilliseconds) {
    this.tookMilliseconds = tookMilliseconds;
  }

  public @Nullable String getTook() {
    return took;
  }

  public void setTook(@Nullable String took) {
    this.took = took;
  }

  /** Returns a copy. */
  public RestoreTimings copy() {
    RestoreTimings copy = new RestoreTimings();
    copy.waitedMilliseconds = waitedMilliseconds;
    copy.scheduleMilliseconds = scheduleMilliseconds;
    copy.startMilliseconds = startMilliseconds;
    copy.layerMilliseconds = layerMilliseconds;
    copy.restoreMilliseconds = restoreMilliseconds;
    copy.fillMilliseconds = fillMilliseconds;
    copy.gpuRestoreMilliseconds = gpuRestoreMilliseconds;
    copy.proofMilliseconds = proofMilliseconds;
    copy.unaccountedMilliseconds = unaccountedMilliseconds;
    copy.tookMilliseconds = tookMilliseconds;
    copy.took = took;
    return copy;
  }
}
