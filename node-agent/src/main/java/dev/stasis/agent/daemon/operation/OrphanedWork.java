package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.skew.UnrecognizedValues;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Thaws frozen workloads whose operation no longer exists, and ends what failed restores have left
 * in their targets. No operation reports them, so an attempt that fails is retried until nothing is
 * left.
 */
final class OrphanedWork {

  private static final System.Logger LOG = System.getLogger(OrphanedWork.class.getName());

  private final AgentParts parts;
  private final BiConsumer<Work, Runnable> turns;
  private final BiConsumer<Duration, Runnable> timer;

  /**
   * Thaws.
   *
   * @param turns runs a task when the GPUs of its work are free
   * @param timer runs a task after a wait
   */
  OrphanedWork(
      AgentParts parts, BiConsumer<Work, Runnable> turns, BiConsumer<Duration, Runnable> timer) {
    this.parts = parts;
    this.turns = turns;
    this.timer = timer;
  }

  /**
   * Compares the engine's records with the operations in the API server.
   *
   * @return uids of operations that no longer exist
   */
  List<String> compare(Map<String, ActiveOperation> active) throws ApiUnreachable {
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
        thaw(work, parts.intervals().thaw().first());
      }
    }
    return active.keySet().stream().filter(uid -> !there.containsKey(uid)).toList();
  }

  /**
   * Ends what a restore that could not be undone has left in its target. Until then its artifact
   * cannot be deleted.
   */
  void endRestored(ActiveOperation operation) {
    if (operation.type() == OperationType.RESTORE) {
      parts.work(operation.uid()).ifPresent(work -> thaw(work, parts.intervals().thaw().first()));
    }
  }

  private void thaw(Work work, Duration next) {
    turns.accept(
        work,
        () -> {
          if (!isThawed(work)) {
            LOG.log(Level.WARNING, "{0}: retrying in {1}", work.id(), next);
            timer.accept(next, () -> thaw(work, parts.intervals().thaw().after(next)));
          }
        });
  }

  /** Tries once; returns whether nothing is left to do. The engine then has no record of it. */
  private boolean isThawed(Work work) {
    try {
      if (isEvicted(work)) {
        LOG.log(
            Level.WARNING,
            "Container {0} is not thawed: its pod is being deleted, and a copy of the workload may"
                + " run elsewhere",
            work.containerId());
        return false;
      }
      ThawOutcome outcome = parts.engine().thaw().run(work.id(), StepListener.NONE);
      LOG.log(
          Level.WARNING,
          "Thaw of container {0} tried: the operation of {1} has ended or is lost: {2}",
          work.containerId(),
          work.owner(),
          outcome);
      return parts.work(work.id()).isEmpty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true; // The successor continues it.
    } catch (ApiUnreachable | NodeApiException e) {
      LOG.log(
          Level.WARNING,
          "Container {0} is not thawed: whether its pod is being deleted is not known: {1}",
          work.containerId(),
          e.getMessage());
      return false;
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "Cannot thaw container " + work.containerId(), e);
      return false;
    }
  }

  /**
   * Returns whether a copy of it may run elsewhere: its artifact is published, and its pod is being
   * deleted. Its kubelet ends it then, and only the record is removed.
   */
  private boolean isEvicted(Work work)
      throws ApiUnreachable, NodeApiException, InterruptedException {
    boolean published =
        work.artifact() != null
            && (work.phase() == Work.Phase.HELD || work.phase() == Work.Phase.SUSPENDED);
    if (!published
        || parts.engine().look().at(work.containerId()).state().kind() == SourceState.Kind.GONE) {
      return false;
    }
    Optional<PodContainer> container = parts.containers().byId(work.containerId());
    if (container.isEmpty()) {
      return true; // Its pod is removed from the node already.
    }
    PodContainer of = container.get();
    return new PodLookup(parts)
        .isDeleted(new OperationPod(of.namespace(), of.pod(), of.podUid(), of.name()));
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
