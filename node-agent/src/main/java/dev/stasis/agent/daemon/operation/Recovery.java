package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Finds out after a restart what was in hand, and what has to become of it. */
final class Recovery {

  private static final System.Logger LOG = System.getLogger(Recovery.class.getName());

  private final AgentParts parts;
  private final OperationJournal journal;
  private final Settlement settlement;

  Recovery(AgentParts parts, OperationJournal journal) {
    this.parts = parts;
    this.journal = journal;
    this.settlement = new Settlement(parts);
  }

  /** The operations that a predecessor had in hand. */
  List<Assignment> journalled() {
    List<Assignment> found = new ArrayList<>();
    for (JournalEntry entry : journal.all()) {
      GpuNodeOperationStatus said =
          Objects.requireNonNullElseGet(entry.status(), GpuNodeOperationStatus::new);
      LOG.log(System.Logger.Level.INFO, "{0} was {1}", entry.name(), entry.stage());
      found.add(new Assignment(parts.clock(), entry, said));
    }
    return found;
  }

  /** What becomes of one that was begun or held; empty when it is simply done again. */
  Optional<Ending> settle(Assignment assignment) throws InterruptedException {
    boolean freezes = assignment.spec().getFreeze() != null;
    boolean restores = assignment.type() == OperationType.RESTORE;
    if (!freezes && !restores) {
      return Optional.empty();
    }
    if (!assignment.entry().bootId().equals(parts.engine().bootId())) {
      return Optional.of(
          Ending.failed(
                  Outcome.LOST,
                  Faults.inStep(
                      "WorkloadGone", "begin", "the node was started anew after the claim"))
              .leaving(WorkloadState.ENDED, freezes ? Truth.FALSE : null, null));
    }
    return Optional.of(
        settlement.of(
            assignment, Faults.AGENT_RESTARTED, "the agent was started anew in the middle of it"));
  }

  /**
   * Compares what is in hand with what the API server has.
   *
   * @return uids of those that are there no more
   */
  List<String> compare(Map<String, Assignment> inHand) throws ApiUnreachable, InterruptedException {
    Map<String, GpuNodeOperation> there = new HashMap<>();
    for (GpuNodeOperation operation : parts.operations().all()) {
      there.put(operation.getMetadata().getUid(), operation);
    }
    for (Work work : parts.engine().thaw().inHand()) {
      if (work.phase() != Work.Phase.UNKNOWN
          && !work.isKeptByHand()
          && !takenUp(inHand.get(work.id()))
          && !explained(work, there.get(work.id()))) {
        ThawOutcome outcome = parts.engine().thaw().run(work.id(), StepListener.NONE);
        LOG.log(
            System.Logger.Level.WARNING,
            "{0} was frozen for {1} and no operation knows of it: {2}",
            work.containerId(),
            work.owner(),
            outcome);
      }
    }
    return inHand.keySet().stream().filter(uid -> !there.containsKey(uid)).toList();
  }

  /**
   * One that is over explains nothing by itself: its object has to be there too. What one has left
   * frozen is tried again anyway.
   */
  private static boolean takenUp(@org.jspecify.annotations.Nullable Assignment assignment) {
    return assignment != null
        && (assignment.entry().stage() != JournalEntry.Stage.ENDED
            || assignment.entry().leftFrozen());
  }

  private static boolean explained(
      Work work, @org.jspecify.annotations.Nullable GpuNodeOperation operation) {
    if (operation == null) {
      return false;
    }
    GpuNodeOperationStatus status = operation.getStatus();
    // One that is not over is about to be taken up by its own claim.
    boolean open = status == null || status.getPhase() == null || !status.getPhase().isFinal();
    return open
        || work.phase() == Work.Phase.SUSPENDED
        || work.phase() == Work.Phase.HELD
        || work.phase() == Work.Phase.ENDING;
  }
}
