package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodWrites;
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

  Holding(Orders orders) {
    this.orders = orders;
  }

  void next(Turn turn, Frozen frozen, OperationView held) {
    turn.enter(
        turn.phase() == CheckpointPhase.RESUMING
            ? CheckpointPhase.RESUMING
            : CheckpointPhase.SAVING);
    turn.again(turn.config().lookAgainEvery());
    boolean leaves =
        turn.pod().map(pod -> pod.getMetadata().getDeletionTimestamp() != null).orElse(true);
    if (leaves) {
      end(turn, frozen, held);
    } else if (held.isCancelled() || isLate(turn, held)) {
      // The agent thaws it, unless it sees the pod go before.
      turn.working(Reason.CANCELLED, "is being undone");
    } else if (turn.isCancelled() || turn.isDeleted()) {
      turn.working(Reason.CANCELLED, "is being undone");
      turn.act(new Act.Cancel(held));
    } else if (turn.isForAnEviction()) {
      turn.status().setFaults(null);
      turn.working(Reason.WAITING_FOR_EVICTION, "the artifact is safe; its pod may be evicted");
    } else if (Owners.of(turn.pod().orElseThrow()).isPresent()) {
      depart(turn, held, turn.pod().orElseThrow());
    } else {
      evict(turn, held, turn.pod().orElseThrow());
    }
  }

  /** Its controller shall make the target in its place, and count nothing as failed. */
  private static void depart(Turn turn, OperationView held, Pod pod) {
    turn.ask(
        new Question.Depart(pod, false),
        answer -> {
          if (answer instanceof PodWrites.Refused refused) {
            turn.working(Reason.OWNER_LIVES, refused.sentence());
            turn.again(
                new Backoff(turn.config().progressEvery(), turn.config().lookAgainEvery())
                    .after(held.entered(), turn.now()));
          } else {
            evict(turn, held, pod);
          }
        });
  }

  private static boolean isLate(Turn turn, OperationView held) {
    Instant end =
        Objects.requireNonNull(held.status().getClaimedBy(), "it is claimed")
            .time()
            .plus(held.operation().getSpec().getDeadline().duration());
    return !turn.now().isBefore(end);
  }

  private static void evict(Turn turn, OperationView held, Pod pod) {
    turn.ask(
        new Question.Evict(pod, false),
        answer -> {
          if (answer instanceof PodWrites.Refused refused) {
            String sentence = refused.sentence();
            turn.working(Reason.EVICTION_REFUSED, sentence);
            turn.status()
                .setFaults(
                    List.of(
                        Reasons.fault(
                            Reason.EVICTION_REFUSED,
                            "eviction of pod " + pod.getMetadata().getName(),
                            "that it is accepted",
                            sentence)));
            turn.tell(true, Reason.EVICTION_REFUSED, sentence, held.name());
          } else {
            turn.status().setFaults(null);
            turn.working(Reason.IN_PROGRESS, "the pod is removed");
          }
        });
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
