package dev.stasis.agent.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Why an operation did not do what was asked: the closed list that statuses, metrics and exit codes
 * use.
 */
public enum Reason {
  /** The preflight found a property that rules the operation out; nothing was touched. */
  @JsonProperty("Refused")
  REFUSED("Refused"),
  /** The user or the caller asked to stop. */
  @JsonProperty("Cancelled")
  CANCELLED("Cancelled"),
  /** The operation's own deadline passed. */
  @JsonProperty("DeadlineExceeded")
  DEADLINE_EXCEEDED("DeadlineExceeded"),
  /** The workload would have stood still for longer than its caller allows. */
  @JsonProperty("FrozenTooLong")
  FROZEN_TOO_LONG("FrozenTooLong"),
  /**
   * The driver did not lock a process within the lock timeout: a kernel runs on, or a peer is
   * waited for.
   */
  @JsonProperty("LockTimeout")
  LOCK_TIMEOUT("LockTimeout"),
  /** The driver refused or failed a call. */
  @JsonProperty("DriverError")
  DRIVER_ERROR("DriverError"),
  /** A driver call did not come back; the worker was replaced. */
  @JsonProperty("DriverHang")
  DRIVER_HANG("DriverHang"),
  /**
   * Somebody ended it meanwhile: what was written down holds the signal, and would end as soon as
   * it came back.
   */
  @JsonProperty("ToldToEnd")
  TOLD_TO_END("ToldToEnd"),
  /** The workload, or one of its processes, is gone. */
  @JsonProperty("WorkloadGone")
  WORKLOAD_GONE("WorkloadGone"),
  /** The tree could not be stopped or did not go on. */
  @JsonProperty("ProcessControl")
  PROCESS_CONTROL("ProcessControl"),
  /** Device regions could not be moved. */
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
  /** The target container cannot take the workload. */
  @JsonProperty("TargetRefused")
  TARGET_REFUSED("TargetRefused"),
  /** Device or host memory does not suffice. */
  @JsonProperty("NoRoom")
  NO_ROOM("NoRoom"),
  /** The restored workload is not what was saved. */
  @JsonProperty("NotProven")
  NOT_PROVEN("NotProven"),
  /** Somebody else acts on the container. */
  @JsonProperty("Busy")
  BUSY("Busy"),
  /** A fault of the node or of Stasis itself. */
  @JsonProperty("Internal")
  INTERNAL("Internal");

  private final String word;

  Reason(String word) {
    this.word = word;
  }

  /** The CamelCase word of the API. */
  public String word() {
    return word;
  }
}
