package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.resize.KubeletWord;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.RoomPlanner;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/**
 * Gives back the memory limit that was raised for a freeze. It follows from the pod's own template
 * what it was, so that it is done after any restart; that it cannot be done fails nothing.
 */
final class RoomReturn {

  private static final String LOWERING = "the kubelet is asked to lower it";

  private final RoomPlanner planner = new RoomPlanner();
  private final KubeletWord kubelet = new KubeletWord();
  private final Template template;

  RoomReturn(Template template) {
    this.template = template;
  }

  /** Does it where it is still to be done. */
  void next(Turn turn) {
    ObservedPod observed = turn.status().getPod();
    Room room = turn.status().getRoom();
    Optional<Pod> before = template.read(turn.status().getPodTemplate());
    if (observed == null
        || observed.container() == null
        || room == null
        || room.originalLimit() == null
        || room.neededBytes() == null
        || before.isEmpty()) {
      return;
    }
    if (turn.pod().isEmpty() || turn.pod().get().getMetadata().getDeletionTimestamp() != null) {
      turn.report().drop(ConditionType.ROOM_RETURNED);
      return;
    }
    Pod now = turn.pod().get();
    Optional<RoomPlan.Memory> back =
        planner.giveBack(now, before.get(), observed.container(), room.neededBytes());
    if (back.isEmpty() && !kubelet.hasIt(now, observed.container())) {
      turn.report()
          .also(
              ConditionType.ROOM_RETURNED,
              ConditionValue.FALSE,
              Reason.LIMIT_STILL_RAISED,
              "the memory limit is to be " + room.originalLimit() + " again: " + LOWERING);
      return;
    }
    if (back.isEmpty()) {
      turn.report()
          .also(
              ConditionType.ROOM_RETURNED,
              ConditionValue.TRUE,
              Reason.LIMIT_RETURNED,
              "the memory limit is again " + room.originalLimit());
      return;
    }
    Pod resized = planner.resized(now, observed.container(), back.get());
    said(turn, room, turn.pods().resize(resized, false));
  }

  private static void said(Turn turn, Room room, PodWrites.Answer answer) {
    String why = answer instanceof PodWrites.Refused refused ? refused.sentence() : LOWERING;
    turn.report()
        .also(
            ConditionType.ROOM_RETURNED,
            ConditionValue.FALSE,
            Reason.LIMIT_STILL_RAISED,
            "the memory limit is to be " + room.originalLimit() + " again: " + why);
    if (answer instanceof PodWrites.Refused) {
      turn.tell(true, Reason.LIMIT_STILL_RAISED, why, "room");
    }
    turn.again(turn.config().lookAgainEvery());
  }
}
