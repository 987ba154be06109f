package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;

/** What is to be done next. Each deed can be done again without harm. */
sealed interface Next {

  /** Nothing, until something changes. */
  record Wait(MigrationPhase phase, Reason reason, String sentence) implements Next {}

  /** The agent of the source is asked what it finds. */
  record Look(Check.Admitted source) implements Next {}

  /** A target is made. */
  record Make(Check.Admitted source, OperationView look) implements Next {}

  /** With SourceFirst: the source is saved, to be removed before its target comes. */
  record Save(Check.Admitted source) implements Next {}

  /** A target was made, and nobody has written that down. */
  record Adopt(Pod target) implements Next {}

  /** The target came to nothing before the source was touched: another one is tried. */
  record Another(Optional<Pod> target, List<Fault> faults, boolean excludesNode) implements Next {
    public Another {
      faults = List.copyOf(faults);
    }
  }

  /** The agent of the target compares what it got with what it takes. */
  record Fit(Pod target) implements Next {}

  /** The source is frozen. */
  record Freeze(Check.Admitted source, Pod target) implements Next {}

  /** The agent has asked for room. */
  record Room(OperationView freeze) implements Next {}

  /** The target's agent is told to expect the artifact; empty: one that is still to be made. */
  record Receive(int number, Optional<ArtifactStatus> artifact, AgentState from, String to)
      implements Next {}

  /** The source's agent is told to send it; empty: one that is still to be made. */
  record Send(int number, Optional<ArtifactStatus> artifact, String address, AgentState to)
      implements Next {}

  /** The workload is restored into the target. */
  record Restore(ArtifactStatus artifact, Pod target) implements Next {}

  /** The point of no return: the target is the one. */
  record SwitchOver(Pod target, OperationView proven) implements Next {}

  /** The source is the one. That is written down before anything is undone. */
  record RollBack(List<Fault> faults) implements Next {
    public RollBack {
      faults = List.copyOf(faults);
    }
  }

  /** An agent is told to undo. */
  record Cancel(OperationView operation) implements Next {}

  /** Nobody waits for an agent any more. */
  record Abandon(OperationView operation, String why) implements Next {}

  /** The gate of the target is opened, and the controller of the source takes it. */
  record HandOver(OwnerReference owner, Pod target) implements Next {}

  /** The gate of the target is opened, and the source removed. */
  record RemoveSource(Pod source) implements Next {}

  /** The target is removed. */
  record RemoveTarget(Pod target) implements Next {}

  /** What was frozen is brought back, or ended. */
  record Decided(OperationType type, int number, OperationView freeze) implements Next {}

  /** An artifact is deleted. */
  record Delete(int number, ArtifactStatus artifact, String node) implements Next {}

  /** The workload runs on the target, and nothing is left of it elsewhere. */
  record Succeed() implements Next {}

  /** Everything is undone. */
  record Undone() implements Next {}

  /** It is over, and the workload does not run where it was. */
  record Lose(Reason reason, String sentence) implements Next {}

  /** It is over. */
  record Rest() implements Next {}
}
