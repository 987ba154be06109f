package dev.stasis.api.v1alpha1.checkpoint;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1alpha1.common.Phase;
import java.util.Set;

/** Where a GpuCheckpoint is. */
public enum CheckpointPhase implements Phase<CheckpointPhase> {
  /**
   * Checked, waiting for room, for the GPU or for the agent; nothing is touched. Also a suspended
   * workload without an artifact that was resumed, until it is suspended again. Then {@link
   * #FREEZING}, {@link #SUSPENDED}, {@link #IMPORTING}, {@link #EXPLAINED}, {@link #FAILED} or
   * {@link #CANCELLED}.
   */
  PENDING("Pending"),

  /**
   * The workload is being stopped and its device memory brought in. Then {@link #SAVING}, {@link
   * #RESUMING}, {@link #SUSPENDED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  FREEZING("Freezing"),

  /**
   * The artifact is written. Then {@link #RESUMING}, {@link #READY}, {@link #SUSPENDED}, {@link
   * #FAILED} or {@link #CANCELLED}.
   */
  SAVING("Saving"),

  /**
   * The workload is going on again. Then {@link #READY}, {@link #SUSPENDED}, {@link #FAILED},
   * {@link #CANCELLED} or {@link #PENDING}.
   */
  RESUMING("Resuming"),

  /**
   * The workload stays in the memory of its node and holds no GPU memory. Then {@link #RESUMING} or
   * {@link #FAILED}.
   */
  SUSPENDED("Suspended"),

  /**
   * An artifact that lies in the store already is read, and every byte of it checked. Then {@link
   * #READY}, {@link #FAILED} or {@link #CANCELLED}.
   */
  IMPORTING("Importing"),

  /**
   * A verified artifact lies in the store. It fails when the artifact is lost or damaged. Then
   * {@link #FREEZING} or {@link #FAILED}.
   */
  READY("Ready"),

  /** Only an explanation was asked for: it stands in the status. The end. */
  EXPLAINED("Explained"),

  /** It could not be done; conditions say why, and whether the workload runs. The end. */
  FAILED("Failed"),

  /** It was cancelled; the workload goes on. The end. */
  CANCELLED("Cancelled");

  private final String word;

  CheckpointPhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String word() {
    return word;
  }

  @Override
  public Set<CheckpointPhase> successors() {
    return switch (this) {
      case PENDING -> Set.of(FREEZING, SUSPENDED, IMPORTING, EXPLAINED, FAILED, CANCELLED);
      case FREEZING -> Set.of(SAVING, RESUMING, SUSPENDED, FAILED, CANCELLED);
      case SAVING -> Set.of(RESUMING, READY, SUSPENDED, FAILED, CANCELLED);
      case RESUMING -> Set.of(READY, SUSPENDED, FAILED, CANCELLED, PENDING);
      case SUSPENDED -> Set.of(RESUMING, FAILED);
      case IMPORTING -> Set.of(READY, FAILED, CANCELLED);
      case READY -> Set.of(FREEZING, FAILED);
      case EXPLAINED, FAILED, CANCELLED -> Set.of();
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
