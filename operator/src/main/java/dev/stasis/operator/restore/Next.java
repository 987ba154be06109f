package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;

/** What is to be done next. Each deed can be done again without harm. */
sealed interface Next {

  /** Nothing, until something changes. */
  record Wait(RestorePhase phase, Reason reason, String sentence) implements Next {}

  /** A target is made. */
  record Make(Source.Ready source) implements Next {}

  /** A target was made, and nobody has written that down. */
  record Adopt(Pod target) implements Next {}

  /**
   * The agent is told to restore.
   *
   * @param holding since when the holder waits
   */
  record Order(Source.Ready source, Pod target, Instant holding) implements Next {}

  /** The workload runs, with proof: the gate is opened. */
  record Prove(Pod target, OperationView operation) implements Next {}

  /** It has failed. That is written down before anything is undone. */
  record Fail(List<Fault> faults) implements Next {
    public Fail {
      faults = List.copyOf(faults);
    }
  }

  /** The agent is told to undo it. */
  record Cancel(OperationView operation) implements Next {}

  /** Nobody waits for the agent any more, and the target is gone. */
  record Abandon(OperationView operation) implements Next {}

  /** The target is removed. */
  record Remove(Pod target) implements Next {}

  /** All is undone, and another target is tried. */
  record Again(Verdict verdict) implements Next {}

  /** All is undone, and the workload is started from its image. */
  record ColdStart(Verdict verdict) implements Next {}

  /** All is undone; it has failed for good. */
  record Give(Verdict verdict) implements Next {}

  /** All is undone; its user wanted that. */
  record Cancelled() implements Next {}

  /** It is over. */
  record Rest() implements Next {}
}
