package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.Owners;
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
 * Returns to a pod whose workload resumes what the freeze has changed: the memory limit that was
 * raised, and the Job that has released it. Both are derived from the pod's template, so a
 * restarted operator does the same. A limit that cannot be lowered fails nothing.
 */
final class PostResumeCleanup {

  private static final String LOWERING = "waiting for the kubelet to lower it";

  private final RoomPlanner planner = new RoomPlanner();
  private final KubeletWord kubelet = new KubeletWord();
  private final Template template;
  private final PodWrites pods;
  private final Departure departure;

  PostResumeCleanup(Template template, PodWrites pods, Departure departure) {
    this.template = template;
    this.pods = pods;
    this.departure = departure;
  }

  /** Returns the limit and the Job. */
  void run(CheckpointContext context, OperationView freeze) {
    lowerLimit(context);
    Optional<Pod> released =
        context
            .pod()
            .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
            .filter(pod -> Owners.of(pod).isEmpty());
    Optional<Pod> source =
        released
            .flatMap(pod -> template.read(CheckpointOperations.template(freeze)))
            .filter(before -> Owners.of(before).filter(Owners::isJob).isPresent());
    if (source.isPresent()) {
      departure.takeBack(released.orElseThrow(), source.get());
    }
  }

  /** Lowers the limit, if it was raised. */
  void lowerLimit(CheckpointContext context) {
    CheckpointStatusUpdater updater = context.updater();
    ObservedPod observed = context.status().getPod();
    Room room = context.status().getRoom();
    if (observed == null
        || observed.container() == null
        || room == null
        || room.originalLimit() == null
        || room.neededBytes() == null) {
      return;
    }
    Optional<Pod> before = template.read(context.status().getPodTemplate());
    if (before.isEmpty()) {
      return;
    }
    if (context.isPodLeaving()) {
      updater.drop(ConditionType.ROOM_RETURNED);
      return;
    }
    Pod now = context.pod().orElseThrow();
    Optional<RoomPlan.Memory> original =
        planner.giveBack(now, before.get(), observed.container(), room.neededBytes());
    if (original.isPresent()) {
      Pod resized = planner.resized(now, observed.container(), original.get());
      stillRaised(context, room, pods.resize(resized, false));
      context.poll();
    } else if (kubelet.hasIt(now, observed.container())) {
      updater.roomReturned(true, "the memory limit was lowered to " + room.originalLimit());
    } else {
      stillRaised(context, room, new PodWrites.Accepted());
    }
  }

  private static void stillRaised(CheckpointContext context, Room room, PodWrites.Answer answer) {
    String why = answer instanceof PodWrites.Refused refused ? refused.sentence() : LOWERING;
    context
        .updater()
        .roomReturned(
            false, "the memory limit is to be " + room.originalLimit() + " again: " + why);
    if (answer instanceof PodWrites.Refused) {
      context.reporter().warning(Reason.LIMIT_RAISED, why, "room");
    }
  }
}
