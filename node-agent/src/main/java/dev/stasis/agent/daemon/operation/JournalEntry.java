package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One operation in hand, as the node's disk holds it: enough for another agent to go on where this
 * one died.
 *
 * @param format the journal's version
 * @param bootId the boot in which it was claimed; in another boot its processes are gone
 * @param name the operation's name
 * @param uid its uid
 * @param created when it was created; the queue goes by it
 * @param claimed when it was claimed; the deadline counts from it
 * @param spec what to do
 * @param stage how far it is
 * @param status what is said, or is still to be said, of it
 */
record JournalEntry(
    int format,
    String bootId,
    String name,
    String uid,
    Instant created,
    Instant claimed,
    GpuNodeOperationSpec spec,
    Stage stage,
    @Nullable GpuNodeOperationStatus status) {

  /** The version written by this agent. */
  static final int FORMAT = 1;

  /** How far it is. */
  enum Stage {
    /** Nothing of it was begun. Next: BEGUN, ENDED. */
    CLAIMED,
    /** The engine has it in hand, and its own journal says what there is. Next: HELD, ENDED. */
    BEGUN,
    /** Published and frozen, until somebody decides. Next: ENDED. */
    HELD,
    /**
     * It is over; only the API server does not know yet, or what it left frozen is tried again.
     * Next: the entry goes.
     */
    ENDED
  }

  JournalEntry at(Stage next, GpuNodeOperationStatus said) {
    return new JournalEntry(format, bootId, name, uid, created, claimed, spec, next, said);
  }

  /** Whether it is over and its workload stands still, though nobody wants that. */
  boolean leftFrozen() {
    return stage == Stage.ENDED && status != null && leftFrozen(spec, status);
  }

  /**
   * The same of what the API server has. A suspension that succeeded is wanted, and what is held is
   * not over; the freeze of a person without an operation has no entry at all.
   */
  static boolean leftFrozen(GpuNodeOperationSpec spec, GpuNodeOperationStatus status) {
    return spec.getFreeze() != null
        && status.getPhase() == OperationPhase.FAILED
        && status.getOutcome() == Outcome.NOT_UNDONE
        && (status.getWorkload() == WorkloadState.FROZEN
            || status.getWorkload() == WorkloadState.UNKNOWN);
  }
}
