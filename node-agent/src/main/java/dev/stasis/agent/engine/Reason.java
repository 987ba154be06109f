package dev.stasis.agent.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Why an operation failed: the closed list for statuses, metrics and exit codes. */
public enum Reason {
  /** The preflight found an unmet requirement; nothing was changed. */
  @JsonProperty("Refused")
  REFUSED("Refused"),
  /** The user or the caller canceled it. */
  @JsonProperty("Cancelled")
  CANCELLED("Cancelled"),
  /** The operation's own deadline passed. */
  @JsonProperty("DeadlineExceeded")
  DEADLINE_EXCEEDED("DeadlineExceeded"),
  /** The workload would have been frozen for longer than its caller allows. */
  @JsonProperty("FrozenTooLong")
  FROZEN_TOO_LONG("FrozenTooLong"),
  /**
   * The driver did not lock a process within the lock timeout: a kernel is still running, or the
   * process waits for a peer.
   */
  @JsonProperty("LockTimeout")
  LOCK_TIMEOUT("LockTimeout"),
  /** The driver refused or failed a call. */
  @JsonProperty("DriverError")
  DRIVER_ERROR("DriverError"),
  /** A driver call did not return; the worker was replaced. */
  @JsonProperty("DriverHang")
  DRIVER_HANG("DriverHang"),
  /**
   * The workload was told to end meanwhile: the artifact contains the pending signal, and a
   * restored workload would end immediately.
   */
  @JsonProperty("ToldToEnd")
  TOLD_TO_END("ToldToEnd"),
  /** The workload, or one of its processes, is gone. */
  @JsonProperty("WorkloadGone")
  WORKLOAD_GONE("WorkloadGone"),
  /** The tree could not be stopped or continued. */
  @JsonProperty("ProcessControl")
  PROCESS_CONTROL("ProcessControl"),
  /** Device regions could not be copied. */
  @JsonProperty("RegionMove")
  REGION_MOVE("RegionMove"),
  /** criu failed. */
  @JsonProperty("CriuFailed")
  CRIU_FAILED("CriuFailed"),
  /** The writable layer could not be packed or unpacked. */
  @JsonProperty("LayerFailed")
  LAYER_FAILED("LayerFailed"),
  /** The artifact could not be written or published. */
  @JsonProperty("StoreFailed")
  STORE_FAILED("StoreFailed"),
  /** The artifact is damaged, foreign, newer or missing. */
  @JsonProperty("ArtifactRefused")
  ARTIFACT_REFUSED("ArtifactRefused"),
  /** The target container cannot run the workload. */
  @JsonProperty("TargetRefused")
  TARGET_REFUSED("TargetRefused"),
  /** Device or host memory is not sufficient. */
  @JsonProperty("NoRoom")
  NO_ROOM("NoRoom"),
  /** The restored workload differs from the saved one. */
  @JsonProperty("NotProven")
  NOT_PROVEN("NotProven"),
  /** An error of the node or of Stasis itself. */
  @JsonProperty("Internal")
  INTERNAL("Internal");

  private final String word;

  Reason(String word) {
    this.word = word;
  }

  /** The CamelCase value in the API. */
  public String value() {
    return word;
  }
}
