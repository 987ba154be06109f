package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1beta1.common.Phase;
import java.util.EnumSet;
import java.util.Set;

/** Phase of an operation. */
public enum OperationPhase implements Phase<OperationPhase> {
  /**
   * Not claimed by an agent yet; nothing has been touched. Next: {@link #CLAIMED}, {@link
   * #CANCELLED} or {@link #FAILED}.
   */
  PENDING("Pending"),

  /**
   * The agent has recorded it in its journal and waits for the GPU. Next: {@link #RUNNING}, {@link
   * #UNDOING}, {@link #FAILED} or {@link #CANCELLED}.
   */
  CLAIMED("Claimed"),

  /**
   * The steps are executed. Next: {@link #SUCCEEDED}, {@link #HELD}, {@link #UNDOING} or {@link
   * #FAILED}.
   */
  RUNNING("Running"),

  /**
   * Waits for a decision of the operator: the workload is frozen and its artifact is stored. Next:
   * {@link #RUNNING}, {@link #SUCCEEDED}, {@link #UNDOING} or {@link #FAILED}.
   */
  HELD("Held"),

  /**
   * Failed or cancelled; the steps are being rolled back. Next: {@link #FAILED} or {@link
   * #CANCELLED}.
   */
  UNDOING("Undoing"),

  /** Completed. Final. */
  SUCCEEDED("Succeeded"),

  /** Failed; the outcome reports the state of the workload. Final. */
  FAILED("Failed"),

  /** Cancelled and rolled back. Final. */
  CANCELLED("Cancelled"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  OperationPhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String value() {
    return word;
  }

  @Override
  public Set<OperationPhase> successors() {
    return switch (this) {
      case PENDING -> Set.of(CLAIMED, CANCELLED, FAILED);
      case CLAIMED -> Set.of(RUNNING, UNDOING, FAILED, CANCELLED);
      case RUNNING -> Set.of(SUCCEEDED, HELD, UNDOING, FAILED);
      case HELD -> Set.of(RUNNING, SUCCEEDED, UNDOING, FAILED);
      case UNDOING -> Set.of(FAILED, CANCELLED);
      case SUCCEEDED, FAILED, CANCELLED -> Set.of();
      case UNRECOGNIZED -> EnumSet.complementOf(EnumSet.of(UNRECOGNIZED));
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
