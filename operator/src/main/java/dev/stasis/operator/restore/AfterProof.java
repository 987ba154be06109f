package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.metric.StasisMetrics;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.resize.KubeletWord;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.RoomPlanner;
import dev.stasis.operator.room.TargetRoom;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What becomes of a restored pod later: its room is given back, its cold starts are told. */
@Singleton
class AfterProof {

  private final PodWrites pods;
  private final Events events;
  private final StasisMetrics metrics;
  private final RoomPlanner planner = new RoomPlanner();
  private final KubeletWord kubelet = new KubeletWord();
  private final TargetRoom room = new TargetRoom();

  AfterProof(PodWrites pods, Events events, StasisMetrics metrics) {
    this.pods = pods;
    this.events = events;
    this.metrics = metrics;
  }

  /**
   * Looks after it.
   *
   * @return whether it has to be looked at again, whatever happens
   */
  boolean look(View view, Ledger ledger) {
    GpuRestoreStatus status = view.status();
    ObservedPod known = status.getPod();
    if (view.target().isEmpty() || known == null || known.container() == null) {
      return false;
    }
    Pod pod = view.target().get();
    restarts(view, pod, known.container());
    boolean raised =
        new Conditions(Objects.requireNonNullElse(status.getConditions(), List.of()))
            .find(ConditionType.ROOM_RETURNED)
            .filter(condition -> condition.status() == Truth.FALSE)
            .isPresent();
    return raised && !returned(view, pod, known.container(), ledger);
  }

  /** After the proof a container that ends is started as its image would have been. */
  private void restarts(View view, Pod pod, String container) {
    int known = Objects.requireNonNullElse(view.status().getRestarts(), 0);
    int now =
        pod.getStatus().getContainerStatuses().stream()
            .filter(it -> container.equals(it.getName()))
            .map(ContainerStatus::getRestartCount)
            .findFirst()
            .orElse(known);
    if (now <= known) {
      return;
    }
    String sentence =
        "container "
            + container
            + " ended and was started from its image: restart "
            + now
            + "; the checkpoint "
            + view.restore().getSpec().getCheckpointName()
            + " is as it was";
    String occasion = view.restore().getMetadata().getUid() + "/restart/" + now;
    events.tell(Story.warning(pod, Reason.COLD_STARTED, sentence, occasion));
    if (events.tell(Story.warning(view.restore(), Reason.COLD_STARTED, sentence, occasion))) {
      for (int i = known; i < now; i++) {
        metrics.coldStart();
      }
    }
    view.status().setRestarts(now);
  }

  private boolean returned(View view, Pod pod, String container, Ledger ledger) {
    if (!(view.source() instanceof Source.Ready source)) {
      ledger.also(
          ConditionType.ROOM_RETURNED,
          Truth.FALSE,
          Reason.LIMIT_STILL_RAISED,
          "container " + container + ": its checkpoint is gone, nobody knows the limit it had");
      return true;
    }
    Optional<RoomPlan.Memory> original = room.original(source.pod(), pod, container);
    if (original.isEmpty() && !kubelet.hasIt(pod, container)) {
      return false;
    }
    if (original.isEmpty()) {
      ledger.also(
          ConditionType.ROOM_RETURNED,
          Truth.TRUE,
          Reason.LIMIT_RETURNED,
          "the memory limit of container " + container + " is what it was");
      return true;
    }
    // Asked again and again: a kubelet defers it while more memory is in use.
    PodWrites.Answer answer = pods.resize(planner.resized(pod, container, original.get()), false);
    String sentence =
        "the memory limit of container " + container + " is to be " + original.get().limit();
    if (answer instanceof PodWrites.Refused refused) {
      sentence += ": " + refused.sentence();
    }
    ledger.also(ConditionType.ROOM_RETURNED, Truth.FALSE, Reason.LIMIT_STILL_RAISED, sentence);
    return false;
  }
}
