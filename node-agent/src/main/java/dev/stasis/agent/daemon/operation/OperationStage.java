package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.operation.OperationPhase;
import org.jspecify.annotations.Nullable;

/** What this agent has done for an active operation. */
enum OperationStage {
  /** Not started. Next: BEGUN, ENDED. */
  CLAIMED,
  /** It is executed, or a predecessor may have started it. Next: CLAIMED, HELD, ENDED. */
  BEGUN,
  /** Published and frozen, until a decision. Next: ENDED. */
  HELD,
  /**
   * Finished; the API server has not stored that yet, or a workload that was left frozen is being
   * thawed again.
   */
  ENDED;

  /** Returns the stage of an operation that a predecessor has left in that phase. */
  static OperationStage recovered(@Nullable OperationPhase phase) {
    if (phase != null && phase.isFinal()) {
      return ENDED;
    }
    return phase == OperationPhase.HELD ? HELD : BEGUN;
  }
}
