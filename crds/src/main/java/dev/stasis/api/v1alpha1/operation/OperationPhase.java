package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonValue;
import dev.stasis.api.v1alpha1.common.Phase;
import java.util.Set;

/** Where an operation is. */
public enum OperationPhase implements Phase<OperationPhase> {
  /**
   * No agent has claimed it; nothing is touched. Then {@link #CLAIMED}, {@link #CANCELLED} or
   * {@link #FAILED}.
   */
  PENDING("Pending"),

  /**
   * The agent has journalled it, and waits for its turn on the GPU. Then {@link #RUNNING}, {@link
   * #UNDOING}, {@link #FAILED} or {@link #CANCELLED}.
   */
  CLAIMED("Claimed"),

  /**
   * The steps are in hand. Then {@link #SUCCEEDED}, {@link #HELD}, {@link #UNDOING} or {@link
   * #FAILED}.
   */
  RUNNING("Running"),

  /**
   * Everything is done that can be done without a decision: the workload is frozen, its artifact
   * safe. Then {@link #RUNNING}, {@link #SUCCEEDED}, {@link #UNDOING} or {@link #FAILED}.
   */
  HELD("Held"),

  /**
   * It failed or was cancelled; the steps are being undone. Then {@link #FAILED} or {@link
   * #CANCELLED}.
   */
  UNDOING("Undoing"),

  /** It is done. The end. */
  SUCCEEDED("Succeeded"),

  /** It could not be done; the outcome says in which state the workload is. The end. */
  FAILED("Failed"),

  /** It was cancelled, and everything is as before. The end. */
  CANCELLED("Cancelled");

  private final String word;

  OperationPhase(String word) {
    this.word = word;
  }

  @Override
  @JsonValue
  public String word() {
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
    };
  }

  @Override
  public String toString() {
    return word;
  }
}
