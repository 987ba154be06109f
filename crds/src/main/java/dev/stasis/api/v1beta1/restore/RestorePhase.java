package dev.stasis.api.v1beta1.restore;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1beta1.common.Phase;
import java.util.EnumSet;
import java.util.Set;

/** Phase of a GpuRestore. */
public enum RestorePhase implements Phase<RestorePhase> {
  /**
   * Waiting for the GpuCheckpoint to become Ready, or for a compatible node. Next: {@link
   * #STARTING}, {@link #COLD_STARTED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  PENDING("Pending"),

  /**
   * The target pod is being scheduled and started. Next: {@link #PENDING}, {@link #RESTORING},
   * {@link #COLD_STARTED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  STARTING("Starting"),

  /**
   * The agent restores the workload into the target pod. Next: {@link #VERIFYING}, {@link
   * #STARTING}, {@link #COLD_STARTED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  RESTORING("Restoring"),

  /**
   * The agent verifies every process and the device memory. Next: {@link #SUCCEEDED}, {@link
   * #STARTING}, {@link #COLD_STARTED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  VERIFYING("Verifying"),

  /** The workload was proven to run. Final. */
  SUCCEEDED("Succeeded"),

  /**
   * The workload could not be restored and was started from its image, as coldStartPolicy allows.
   * Final.
   */
  COLD_STARTED("ColdStarted"),

  /** Failed; the checkpoint is unchanged. Final. */
  FAILED("Failed"),

  /** Cancelled; the checkpoint is unchanged. Final. */
  CANCELLED("Cancelled"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  RestorePhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String value() {
    return word;
  }

  @Override
  public Set<RestorePhase> successors() {
    return switch (this) {
      case PENDING -> Set.of(STARTING, COLD_STARTED, FAILED, CANCELLED);
      case STARTING -> Set.of(PENDING, RESTORING, COLD_STARTED, FAILED, CANCELLED);
      case RESTORING -> Set.of(VERIFYING, STARTING, COLD_STARTED, FAILED, CANCELLED);
      case VERIFYING -> Set.of(SUCCEEDED, STARTING, COLD_STARTED, FAILED, CANCELLED);
      case SUCCEEDED, COLD_STARTED, FAILED, CANCELLED -> Set.of();
      case UNRECOGNIZED -> EnumSet.complementOf(EnumSet.of(UNRECOGNIZED));
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
