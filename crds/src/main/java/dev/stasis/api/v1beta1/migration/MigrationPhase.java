package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1beta1.common.Phase;
import java.util.EnumSet;
import java.util.Set;

/** Phase of a GpuMigration. */
public enum MigrationPhase implements Phase<MigrationPhase> {
  /**
   * Waiting for a compatible node or for other migrations; nothing has been touched. Next: {@link
   * #TARGET_STARTING}, {@link #FREEZING}, {@link #FAILED} or {@link #CANCELLED}.
   */
  PENDING("Pending"),

  /**
   * The target pod is being scheduled and started. Next: {@link #PENDING}, {@link #FREEZING},
   * {@link #RESTORING}, {@link #ROLLED_BACK}, {@link #FAILED} or {@link #CANCELLED}.
   */
  TARGET_STARTING("TargetStarting"),

  /**
   * The source is being frozen. Next: {@link #TRANSFERRING}, {@link #RESTORING} (through a shared
   * store), {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  FREEZING("Freezing"),

  /**
   * The artifact is being sent to the target node; with Recreate, written to the store. Next:
   * {@link #TARGET_STARTING}, {@link #RESTORING}, {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  TRANSFERRING("Transferring"),

  /**
   * The workload is being restored in the target pod. Next: {@link #VERIFYING}, {@link
   * #TARGET_STARTING} (Recreate: another target), {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  RESTORING("Restoring"),

  /**
   * The target is being verified. Next: {@link #SWITCHING_OVER}, {@link #TARGET_STARTING}
   * (Recreate: another target), {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  VERIFYING("Verifying"),

  /**
   * Past the point of no return: owner and labels move to the target, and the source is deleted.
   * Next: {@link #SUCCEEDED} or {@link #FAILED}.
   */
  SWITCHING_OVER("SwitchingOver"),

  /** The workload was proven to run on the target. Final. */
  SUCCEEDED("Succeeded"),

  /**
   * The source keeps running and the target was deleted. With Recreate, after the source was
   * deleted: the workload was restored on its original node. Final.
   */
  ROLLED_BACK("RolledBack"),

  /** Failed; the conditions report why and where the workload runs. Final. */
  FAILED("Failed"),

  /** Cancelled before the source was touched. Final. */
  CANCELLED("Cancelled"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  MigrationPhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String value() {
    return word;
  }

  @Override
  public Set<MigrationPhase> successors() {
    return switch (this) {
      case PENDING -> Set.of(TARGET_STARTING, FREEZING, FAILED, CANCELLED);
      case TARGET_STARTING -> Set.of(PENDING, FREEZING, RESTORING, ROLLED_BACK, FAILED, CANCELLED);
      case FREEZING -> Set.of(TRANSFERRING, RESTORING, ROLLED_BACK, FAILED);
      case TRANSFERRING -> Set.of(TARGET_STARTING, RESTORING, ROLLED_BACK, FAILED);
      case RESTORING -> Set.of(VERIFYING, TARGET_STARTING, ROLLED_BACK, FAILED);
      case VERIFYING -> Set.of(SWITCHING_OVER, TARGET_STARTING, ROLLED_BACK, FAILED);
      case SWITCHING_OVER -> Set.of(SUCCEEDED, FAILED);
      case SUCCEEDED, ROLLED_BACK, FAILED, CANCELLED -> Set.of();
      case UNRECOGNIZED -> EnumSet.complementOf(EnumSet.of(UNRECOGNIZED));
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
