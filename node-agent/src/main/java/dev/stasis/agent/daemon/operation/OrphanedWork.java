package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.skew.UnrecognizedValues;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Thaws frozen workloads whose operation no longer exists. */
final class OrphanedWork {

  private static final System.Logger LOG = System.getLogger(OrphanedWork.class.getName());

  private final AgentParts parts;

  OrphanedWork(AgentParts parts) {
    this.parts = parts;
  }

  /**
   * Compares the engine's records with the operations in the API server.
   *
   * @return uids of operations that no longer exist
   */
  List<String> compare(Map<String, ActiveOperation> active)
      throws ApiUnreachable, InterruptedException {
    Map<String, GpuNodeOperation> there = new HashMap<>();
    for (GpuNodeOperation operation : parts.cluster().operations()) {
      there.put(operation.getMetadata().getUid(), operation);
    }
    for (Work work : parts.engine().thaw().inHand()) {
      if (work.phase() != Work.Phase.UNKNOWN
          && !work.isKeptByHand()
          && !takenUp(active.get(work.id()))
          && !explained(work, there.get(work.id()))
          && !staysHeld(work)) {
        ThawOutcome outcome = parts.engine().thaw().run(work.id(), StepListener.NONE);
        LOG.log(
            Level.WARNING,
            "Thawed container {0}: the operation of {1} no longer exists: {2}",
            work.containerId(),
            work.owner(),
            outcome);
      }
    }
    return active.keySet().stream().filter(uid -> !there.containsKey(uid)).toList();
  }

  /**
   * A finished operation does not justify the record: its object must also exist. A workload that
   * was left frozen is thawed again anyway.
   */
  private static boolean takenUp(@Nullable ActiveOperation operation) {
    return operation != null
        && (operation.stage() != OperationStage.ENDED || operation.leftFrozen());
  }

  /** Its operation is lost, but not its rule: a thaw could make it run twice. */
  private static boolean staysHeld(Work work) {
    if (work.mayRunElsewhere()) {
      LOG.log(
          Level.ERROR,
          "Container {0} stays held: the operation of {1} no longer exists, and a copy of the"
              + " workload may run elsewhere; decide with stasis-node thaw or stasis-node end",
          work.containerId(),
          work.owner());
    }
    return work.mayRunElsewhere();
  }

  private static boolean explained(Work work, @Nullable GpuNodeOperation operation) {
    if (operation == null) {
      return false;
    }
    GpuNodeOperationStatus status = operation.getStatus();
    // An unfinished one is about to be recovered by its own claim.
    boolean open = status == null || status.getPhase() == null || !status.getPhase().isFinal();
    return open
        // A newer agent may have left it frozen on purpose.
        || !UnrecognizedValues.in(operation).isEmpty()
        || work.phase() == Work.Phase.SUSPENDED
        || work.phase() == Work.Phase.HELD
        || work.phase() == Work.Phase.ENDING;
  }
}
