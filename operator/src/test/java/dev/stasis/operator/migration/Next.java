package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import java.util.List;
import java.util.Optional;

/** What a migration does next, as the tables name it: the acts of its steps. */
sealed interface Next {

  /** Nothing, until something changes. */
  record Wait(MigrationPhase phase, Reason reason, String sentence) implements Next {}

  /** The agent of the source is asked what it finds. */
  record WorkloadInspector() implements Next {}

  /** A target is made. */
  record Make() implements Next {}

  /** With strategy Recreate: the source is saved, to be removed before its target comes. */
  record Save() implements Next {}

  /** A target was made, and nobody has written that down. */
  record Adopt() implements Next {}

  /** The target came to nothing before the source was touched: another one is tried. */
  record Another(boolean excludesNode) implements Next {}

  /** The agent of the target compares what it got with what it takes. */
  record Fit() implements Next {}

  /** The source is frozen. */
  record Freeze() implements Next {}

  /** The target's agent is told to expect the artifact; empty: one that is still to be made. */
  record Receive(int number, Optional<ArtifactStatus> artifact, String to) implements Next {}

  /** The source's agent is told to send it; empty: one that is still to be made. */
  record Send(int number, Optional<ArtifactStatus> artifact, String address) implements Next {}

  /** The workload is restored into the target. */
  record Restore() implements Next {}

  /** The point of no return: the target is the one. */
  record SwitchOver() implements Next {}

  /** The source is the one. That is written down before anything is undone. */
  record RollBack(List<Fault> faults) implements Next {
    public RollBack {
      faults = List.copyOf(faults);
    }
  }

  /** An agent is told to undo. */
  record Cancel(OperationView operation) implements Next {}

  /** The gate of the target is opened, and the controller of the source takes it. */
  record HandOver() implements Next {}

  /** The gate of the target is opened, and the source removed. */
  record RemoveSource() implements Next {}

  /** The target is removed. */
  record RemoveTarget() implements Next {}

  /** What was frozen is brought back, or ended. */
  record Decided(OperationType type, int number) implements Next {}

  /** An artifact is deleted. */
  record Delete(int number, String node) implements Next {}

  /** The workload runs on the target, and nothing is left of it elsewhere. */
  record Succeed() implements Next {}

  /** Everything is undone. */
  record Undone() implements Next {}

  /** It is over, and the workload does not run where it was. */
  record Lose(Reason reason, String sentence) implements Next {}

  /** It is over. */
  record Rest() implements Next {}
}
