package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.resize.HeadroomNegotiation;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import io.fabric8.kubernetes.api.model.Node;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The agent has said that the limit has no room for the device memory, and waits: the pod is
 * resized, or the order is cancelled with the reason. Nothing is frozen meanwhile.
 */
final class RoomTalk {

  /** What the agent found, beside what is known here of the limit before. */
  static void takeOver(GpuCheckpointStatus to, GpuNodeOperationStatus from) {
    if (from.getRoom() == null) {
      return;
    }
    Room found = from.getRoom();
    Room before = to.getRoom();
    to.setRoom(
        new Room(
            needed(before, found),
            found.usedBytes(),
            found.limitBytes(),
            before == null ? found.originalLimit() : before.originalLimit(),
            found.nodeFreeBytes()));
  }

  /**
   * The limit was raised for the larger one, and by that number it is known again when it is
   * lowered. The agent inspects the workload once more after its hooks, when that may use less.
   */
  private static @Nullable Long needed(@Nullable Room before, Room found) {
    Long known = before == null ? null : before.neededBytes();
    Long now = found.neededBytes();
    return known == null || now == null ? now : Long.valueOf(Math.max(known, now));
  }

  void next(Turn turn, Frozen frozen, OperationView view) {
    turn.again(turn.config().lookAgainEvery());
    Optional<Node> node = turn.cluster().node(view.operation().getSpec().getNodeName());
    List<Fault> faults = Objects.requireNonNullElse(turn.status().getFaults(), List.of());
    if (view.isCancelled() && !turn.isCancelled() && !faults.isEmpty()) {
      turn.working(Reason.NO_ROOM, new FaultSummary(faults).message());
      return;
    }
    if (view.isCancelled() || turn.pod().isEmpty() || node.isEmpty()) {
      turn.working(Reason.CANCELLED, "is being undone");
      return;
    }
    HeadroomNegotiation.Result result =
        new HeadroomNegotiation(turn.cluster(), turn.pods())
            .answer(
                view,
                turn.pod().get(),
                node.get(),
                turn.spec().getOptions().getMemoryLimitPolicy());
    if (result instanceof HeadroomNegotiation.Refused refused) {
      refuse(turn, view, refused.faults());
    } else if (result instanceof HeadroomNegotiation.Raised raised) {
      String original = raised.room().originalLimit();
      Room known = Objects.requireNonNull(turn.status().getRoom(), "the agent reported it");
      turn.status()
          .setRoom(
              new Room(
                  known.neededBytes(),
                  known.usedBytes(),
                  known.limitBytes(),
                  original,
                  known.nodeFreeBytes()));
      turn.working(Reason.MAKING_ROOM, raised.message());
      turn.tell(false, Reason.MAKING_ROOM, raised.message(), view.name());
    } else {
      turn.working(Reason.MAKING_ROOM, ((HeadroomNegotiation.Waiting) result).message());
    }
  }

  /** Why goes into the status, and the order is cancelled: it is refused when that is done. */
  private static void refuse(Turn turn, OperationView view, List<Fault> faults) {
    turn.status().setFaults(faults);
    turn.working(Reason.NO_ROOM, new FaultSummary(faults).message());
    turn.act(new Act.Cancel(view));
  }
}
