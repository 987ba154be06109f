package dev.stasis.api.v1beta1.checkpoint;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1beta1.common.Phase;
import java.util.EnumSet;
import java.util.Set;

/** Phase of a GpuCheckpoint. */
public enum CheckpointPhase implements Phase<CheckpointPhase> {
  /**
   * Validated and waiting for memory, for the GPU or for the agent; nothing has been touched. Also:
   * a workload that was resumed and has no artifact. Next: {@link #FREEZING}, {@link #SUSPENDED},
   * {@link #IMPORTING}, {@link #EXPLAINED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  PENDING("Pending"),

  /**
   * The workload is being frozen and its device memory copied to host memory. Next: {@link
   * #SAVING}, {@link #RESUMING}, {@link #SUSPENDED}, {@link #FAILED} or {@link #CANCELLED}.
   */
  FREEZING("Freezing"),

  /**
   * The artifact is being written. Next: {@link #RESUMING}, {@link #READY}, {@link #SUSPENDED},
   * {@link #FAILED} or {@link #CANCELLED}.
   */
  SAVING("Saving"),

  /**
   * The workload is being thawed or resumed. Next: {@link #READY}, {@link #SUSPENDED}, {@link
   * #FAILED}, {@link #CANCELLED} or {@link #PENDING}.
   */
  RESUMING("Resuming"),

  /**
   * The workload is in the host memory of its node and holds no GPU memory. Next: {@link #RESUMING}
   * or {@link #FAILED}.
   */
  SUSPENDED("Suspended"),

  /**
   * An existing artifact is being verified. Next: {@link #READY}, {@link #FAILED} or {@link
   * #CANCELLED}.
   */
  IMPORTING("Importing"),

  /**
   * A verified artifact is in the store. The checkpoint fails later if the artifact is lost or
   * damaged. Next: {@link #FREEZING} or {@link #FAILED}.
   */
  READY("Ready"),

  /** The dry run has finished; the status contains the result. Final. */
  EXPLAINED("Explained"),

  /** Failed; the conditions report why and whether the workload runs. Final. */
  FAILED("Failed"),

  /** Cancelled; the workload keeps running. Final. */
  CANCELLED("Cancelled"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  CheckpointPhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String value() {
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
      case UNRECOGNIZED -> EnumSet.complementOf(EnumSet.of(UNRECOGNIZED));
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
