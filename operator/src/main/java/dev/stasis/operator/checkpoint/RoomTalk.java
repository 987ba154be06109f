package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Room;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.resize.KubeletWord;
import dev.stasis.operator.resize.RoomAnswer;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The agent has said that the limit has no room for the device memory, and waits: the pod is
 * resized, or the order is cancelled with the reason. Nothing is frozen meanwhile.
 */
final class RoomTalk {

  private final RoomAnswer answer = new RoomAnswer();
  private final KubeletWord kubelet = new KubeletWord();

  boolean isAsked(OperationView view) {
    return answer.isAsked(view);
  }

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

  void next(Turn turn, OperationView view) {
    turn.again(turn.config().lookAgainEvery());
    Optional<Node> node = turn.cluster().node(view.operation().getSpec().getNodeName());
    List<Fault> faults = Objects.requireNonNullElse(turn.status().getFaults(), List.of());
    if (view.isCancelled() && !turn.isCancelled() && !faults.isEmpty()) {
      turn.working(Reason.NO_ROOM, Turn.sentences(faults));
      return;
    }
    if (view.isCancelled() || turn.pod().isEmpty() || node.isEmpty()) {
      turn.working(Reason.CANCELLED, "is being undone");
      return;
    }
    Pod pod = turn.pod().get();
    RoomPlan plan = answer.plan(turn.cluster(), view, pod, node.get(), turn.spec().getMemoryRoom());
    if (plan instanceof RoomPlan.Refused refused) {
      refuse(turn, view, refused.faults());
    } else if (plan instanceof RoomPlan.Resize resize) {
      resize(turn, view, pod, resize);
    } else {
      turn.working(Reason.MAKING_ROOM, kubelet.waiting(pod));
    }
  }

  private void resize(Turn turn, OperationView view, Pod pod, RoomPlan.Resize resize) {
    Pod resized = answer.resized(pod, resize);
    turn.ask(
        new Question.Resize(resized, true),
        dry -> {
          if (dry instanceof PodWrites.Refused refused) {
            refuse(turn, view, List.of(RoomAnswer.fault(resize, refused)));
            return;
          }
          turn.ask(
              new Question.Resize(resized, false),
              said -> {
                if (said instanceof PodWrites.Refused refused) {
                  refuse(turn, view, List.of(RoomAnswer.fault(resize, refused)));
                } else {
                  made(turn, view, resize);
                }
              });
        });
  }

  private static void made(Turn turn, OperationView view, RoomPlan.Resize resize) {
    Room room = Objects.requireNonNull(turn.status().getRoom(), "the agent said it");
    turn.status().setRoom(RoomAnswer.raised(room, resize));
    String sentence = RoomAnswer.sentence(resize);
    turn.working(Reason.MAKING_ROOM, sentence);
    turn.tell(false, Reason.MAKING_ROOM, sentence, view.name());
  }

  /** Why goes into the status, and the order is cancelled: it is refused when that is done. */
  private static void refuse(Turn turn, OperationView view, List<Fault> faults) {
    turn.status().setFaults(faults);
    turn.working(Reason.NO_ROOM, Turn.sentences(faults));
    turn.act(new Act.Cancel(view));
  }
}
