package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.PodEvictor;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The artifact is safe and the workload still stands: the pod is removed, then the tree is ended.
 * The deletion of the pod is the point of no return: SIGTERM waits in the stopped tree, so it is
 * never thawed after it, and never ended before it.
 */
final class Holding {

  private final Orders orders;
  private final RemoteUpload upload;

  Holding(Orders orders, RemoteUpload upload) {
    this.orders = orders;
    this.upload = upload;
  }

  void next(Turn turn, Frozen frozen, OperationView held) {
    turn.enter(
        turn.phase() == CheckpointPhase.RESUMING
            ? CheckpointPhase.RESUMING
            : CheckpointPhase.SAVING);
    held.artifact()
        .filter(artifact -> artifact.getDurability() != null)
        .ifPresent(artifact -> RemoteUpload.takeOver(turn, artifact));
    if (!turn.isDeleted() && !turn.isCancelled()) {
      upload.next(turn);
    }
    if (isLeaving(turn)) {
      end(turn, frozen, held);
    } else if (held.isCancelled() || isLate(turn, held)) {
      // The agent thaws it, unless it sees the pod go before.
      turn.working(Reason.CANCELLED, "is being undone");
    } else if (turn.isCancelled() || turn.isDeleted()) {
      turn.working(Reason.CANCELLED, "is being undone");
      turn.act(new Act.Cancel(held));
    } else if (!RemoteUpload.isStored(turn)) {
      RemoteUpload.await(turn);
    } else if (turn.isForAnEviction()) {
      turn.status().setFaults(null);
      turn.working(Reason.WAITING_FOR_EVICTION, "the artifact is safe; its pod may be evicted");
    } else {
      turn.againAt(deadline(held));
      evict(turn, held, turn.pod().orElseThrow());
      return;
    }
    turn.again(turn.config().lookAgainEvery());
  }

  /** Returns whether the pod is deleted, or gone. */
  static boolean isLeaving(Turn turn) {
    return turn.pod().map(pod -> pod.getMetadata().getDeletionTimestamp() != null).orElse(true);
  }

  private static boolean isLate(Turn turn, OperationView held) {
    return !turn.now().isBefore(deadline(held));
  }

  private static Instant deadline(OperationView held) {
    return Objects.requireNonNull(held.status().getClaimedBy(), "it is claimed")
        .time()
        .plus(held.operation().getSpec().getDeadline().duration());
  }

  /** Its controller shall create the target in its place, and count nothing as failed. */
  private static void evict(Turn turn, OperationView held, Pod pod) {
    PodEvictor.Result result = turn.evictor().evict(pod);
    if (result instanceof PodEvictor.OwnerLives lives) {
      turn.working(Reason.OWNER_LIVES, lives.message());
      turn.again(
          new Backoff(turn.config().progressEvery(), Backoff.FROZEN)
              .after(held.entered(), turn.now()));
      return;
    }
    turn.again(turn.config().lookAgainEvery());
    if (result instanceof PodEvictor.Refused refused) {
      turn.working(Reason.EVICTION_REFUSED, refused.message());
      turn.status()
          .setFaults(
              List.of(
                  Reasons.fault(
                      Reason.EVICTION_REFUSED,
                      "eviction of pod " + pod.getMetadata().getName(),
                      "that it is accepted",
                      refused.message())));
      turn.tell(true, Reason.EVICTION_REFUSED, refused.message(), held.name());
    } else {
      turn.status().setFaults(null);
      turn.working(Reason.IN_PROGRESS, "the pod is removed");
    }
  }

  private void end(Turn turn, Frozen frozen, OperationView held) {
    turn.working(Reason.IN_PROGRESS, "the pod is removed; the tree is ended");
    Optional<OperationView> given = Frozen.operation(turn, OperationType.END, frozen.number());
    if (given.isEmpty()) {
      turn.act(new Act.Create(orders.of(turn, OperationType.END, frozen)));
    } else if (given.get().isFinal() && !given.get().succeeded()) {
      String why = Objects.requireNonNullElse(given.get().status().getMessage(), "it failed");
      turn.working(Reason.OPERATION_FAILED, "End: " + why);
      turn.tell(true, Reason.OPERATION_FAILED, "End: " + why, given.get().name());
      // An end may be asked for before the agent has seen the pod go: it is ordered once more.
      turn.retry(given.get(), held.entered());
    }
  }
}
