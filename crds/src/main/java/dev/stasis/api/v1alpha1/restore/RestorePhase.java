package dev.stasis.api.v1alpha1.restore;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1alpha1.common.Phase;
import java.util.Set;

/** Where a GpuRestore is. */
public enum RestorePhase implements Phase<RestorePhase> {
  /**
   * Waits for its GpuCheckpoint to be Ready, or for a node that fits. Then {@link #STARTING},
   * {@link #COLD_STARTED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  PENDING("Pending"),

  /**
   * The target pod exists; it waits for a node, its image and its holder. Then {@link #PENDING},
   * {@link #RESTORING}, {@link #COLD_STARTED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  STARTING("Starting"),

  /**
   * The agent fills the target. Then {@link #VERIFYING}, {@link #STARTING}, {@link #COLD_STARTED},
   * {@link #FAILED} or {@link #CANCELLED}.
   */
  RESTORING("Restoring"),

  /**
   * Every process and the device memory are looked at. Then {@link #SUCCEEDED}, {@link #STARTING},
   * {@link #COLD_STARTED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  VERIFYING("Verifying"),

  /** The workload runs, with proof. The end. */
  SUCCEEDED("Succeeded"),

  /**
   * It could not be restored and was started from its image, as coldStartFallback allows. The end.
   */
  COLD_STARTED("ColdStarted"),

  /** It could not be done; the checkpoint is as it was. The end. */
  FAILED("Failed"),

  /** It was cancelled; the checkpoint is as it was. The end. */
  CANCELLED("Cancelled");

  private final String word;

  RestorePhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String word() {
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
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
