package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import java.util.List;
import java.util.Set;

/**
 * Why a target failed, and the consequence. Read from the status, where the faults were written
 * before anything was undone.
 *
 * @param faults at least one
 */
record FailedAttempt(List<Fault> faults) {

  /** Targets created for one GpuRestore: the first, and one retry on each of two other nodes. */
  static final int ATTEMPTS = 3;

  /** The agent's reason for an operation that it found unfinished after a restart. */
  private static final String AGENT_RESTARTED = "AgentRestarted";

  /** Another node may succeed. */
  private static final Set<String> OF_THE_NODE =
      Set.of(
          Reason.INCOMPATIBLE.value(),
          Reason.IMAGE_NOT_AVAILABLE.value(),
          // Its disk has no room for the artifact of a remote store.
          Reason.STORE_FULL.value());

  /** The next target may succeed, even on the same node. */
  private static final Set<String> OF_THE_MOMENT =
      Set.of(Reason.TARGET_LOST.value(), AGENT_RESTARTED);

  FailedAttempt {
    faults = List.copyOf(faults);
  }

  /** Returns whether the node is the reason, and is not tried again. */
  boolean excludesNode() {
    return summary().hasAnyOf(OF_THE_NODE);
  }

  /** Returns whether another target is created after this number of them. */
  boolean isRetried(int attempts) {
    return attempts < ATTEMPTS && (excludesNode() || summary().hasAnyOf(OF_THE_MOMENT));
  }

  Reason reason() {
    return summary().reason(Reason.RESTORE_FAILED);
  }

  String message() {
    return summary().message();
  }

  private FaultSummary summary() {
    return new FaultSummary(faults);
  }
}
