package dev.stasis.api.v1alpha1.migration;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1alpha1.common.Phase;
import java.util.Set;

/** Where a GpuMigration is. */
public enum MigrationPhase implements Phase<MigrationPhase> {
  /**
   * Waits for a node that fits, or for its turn; nothing is touched. Then {@link #TARGET_STARTING},
   * {@link #FREEZING}, {@link #FAILED} or {@link #CANCELLED}.
   */
  PENDING("Pending"),

  /**
   * The target pod gets its node, its image, its GPUs and its holder. Then {@link #PENDING}, {@link
   * #FREEZING}, {@link #RESTORING}, {@link #ROLLED_BACK}, {@link #FAILED} or {@link #CANCELLED}.
   */
  TARGET_STARTING("TargetStarting"),

  /**
   * The source is locked, checkpointed and stopped. Then {@link #TRANSFERRING}, through a store
   * that both nodes reach {@link #RESTORING}, {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  FREEZING("Freezing"),

  /**
   * The workload goes from node to node; with SourceFirst, into the store. Then {@link
   * #TARGET_STARTING}, {@link #RESTORING}, {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  TRANSFERRING("Transferring"),

  /**
   * The target is filled. Then {@link #VERIFYING}, with SourceFirst also {@link #TARGET_STARTING}
   * for another target, {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  RESTORING("Restoring"),

  /**
   * The target is proven. Then {@link #SWITCHING_OVER}, with SourceFirst also {@link
   * #TARGET_STARTING} for another target, {@link #ROLLED_BACK} or {@link #FAILED}.
   */
  VERIFYING("Verifying"),

  /**
   * There is no way back: owner and labels go to the target, the source is removed. Then {@link
   * #SUCCEEDED} or {@link #FAILED}.
   */
  SWITCHING_OVER("SwitchingOver"),

  /** The workload runs on the target, with proof. The end. */
  SUCCEEDED("Succeeded"),

  /**
   * The source goes on; the target is gone. With SourceFirst, after the source was removed: it was
   * restored on the node from which it came. The end.
   */
  ROLLED_BACK("RolledBack"),

  /** It could not be done; conditions say why, and where the workload runs. The end. */
  FAILED("Failed"),

  /** It was cancelled before the source was touched. The end. */
  CANCELLED("Cancelled");

  private final String word;

  MigrationPhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String word() {
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
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
