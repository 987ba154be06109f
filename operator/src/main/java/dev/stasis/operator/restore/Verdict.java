package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.operator.status.Reason;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Why a target came to nothing, and what follows from it. It is read from the status, where the
 * faults were written before anything was undone.
 *
 * @param faults at least one
 */
record Verdict(List<Fault> faults) {

  /** As often a target is made for one GpuRestore. */
  static final int ATTEMPTS = 3;

  /** The agent's word for an operation that it found unfinished when it was started anew. */
  private static final String AGENT_RESTARTED = "AgentRestarted";

  /** Another node may be better. */
  private static final Set<String> OF_THE_NODE =
      Set.of(Reason.INCOMPATIBLE.word(), Reason.IMAGE_NOT_AVAILABLE.word());

  /** The next one may be luckier, on the same node too. */
  private static final Set<String> OF_THE_MOMENT =
      Set.of(Reason.TARGET_LOST.word(), AGENT_RESTARTED);

  Verdict {
    if (faults.isEmpty()) {
      throw new IllegalArgumentException("faults: wanted at least one, found none");
    }
    faults = List.copyOf(faults);
  }

  /** Whether the node is the reason, and is not tried again. */
  boolean excludesNode() {
    return has(OF_THE_NODE);
  }

  /** Whether another target is made after so many. */
  boolean triesAgain(int attempts) {
    return attempts < ATTEMPTS && (excludesNode() || has(OF_THE_MOMENT));
  }

  /** In one word; what only an agent says is a restore that failed. */
  Reason reason() {
    return faults.stream()
        .flatMap(
            fault ->
                Arrays.stream(Reason.values())
                    .filter(reason -> reason.word().equals(fault.reason())))
        .findFirst()
        .orElse(Reason.RESTORE_FAILED);
  }

  /** In one line. */
  String sentence() {
    return faults.stream().map(Fault::message).distinct().collect(Collectors.joining("; "));
  }

  private boolean has(Set<String> reasons) {
    return faults.stream().anyMatch(fault -> reasons.contains(fault.reason()));
  }
}
