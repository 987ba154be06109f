package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.migration.MigrationPhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.resize.KubeletWord;
import dev.stasis.operator.resize.RoomAnswer;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.RoomPlanner;
import dev.stasis.operator.room.TargetRoom;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Room for the device memory in the source, and back, and back in the target. */
@Singleton
class Room {

  private final Cluster cluster;
  private final PodWrites pods;
  private final TargetWork targets;
  private final RoomAnswer answers = new RoomAnswer();
  private final RoomPlanner planner = new RoomPlanner();
  private final TargetRoom room = new TargetRoom();
  private final KubeletWord kubelet = new KubeletWord();

  Room(Cluster cluster, PodWrites pods, TargetWork targets) {
    this.cluster = cluster;
    this.pods = pods;
    this.targets = targets;
  }

  /** The agent of the source waits for it; nothing is frozen meanwhile. */
  void answer(View view, OperationView freeze, Ledger ledger) {
    Optional<Node> node = cluster.node(freeze.operation().getSpec().getNodeName());
    if (view.source().isEmpty() || node.isEmpty()) {
      return;
    }
    Pod pod = view.source().get();
    RoomPlan plan =
        answers.plan(cluster, freeze, pod, node.get(), view.migration().getSpec().getMemoryRoom());
    if (plan instanceof RoomPlan.Refused refused) {
      ledger.rollsBack(refused.faults(), view);
    } else if (plan instanceof RoomPlan.Resize resize) {
      resize(view, freeze, answers.resized(pod, resize), resize, ledger);
    } else {
      waits(view, kubelet.waiting(pod), ledger);
    }
  }

  private void resize(
      View view, OperationView freeze, Pod resized, RoomPlan.Resize resize, Ledger ledger) {
    PodWrites.Answer answer = pods.resize(resized, true);
    if (answer instanceof PodWrites.Accepted) {
      answer = pods.resize(resized, false);
    }
    if (answer instanceof PodWrites.Refused refused) {
      ledger.rollsBack(List.<Fault>of(RoomAnswer.fault(resize, refused)), view);
      return;
    }
    view.status()
        .setRoom(RoomAnswer.raised(Objects.requireNonNull(freeze.status().getRoom()), resize));
    waits(view, RoomAnswer.sentence(resize), ledger);
  }

  private static void waits(View view, String sentence, Ledger ledger) {
    ledger.waits(new Next.Wait(MigrationPhase.FREEZING, Reason.MAKING_ROOM, sentence), view);
  }

  /**
   * Gives back what was raised, once it is over.
   *
   * @return whether nothing is left to do
   */
  boolean giveBack(View view, Ledger ledger) {
    GpuMigrationStatus status = view.status();
    Optional<Condition> raised =
        new Conditions(Objects.requireNonNullElse(status.getConditions(), List.of()))
            .find(ConditionType.ROOM_RETURNED)
            .filter(condition -> condition.status() == Truth.FALSE);
    if (raised.isEmpty()) {
      return true;
    }
    boolean moved = status.getPhase() == MigrationPhase.SUCCEEDED;
    Optional<Pod> pod = moved ? view.target() : view.source();
    String container =
        status.getSource() == null
            ? ""
            : Objects.requireNonNullElse(status.getSource().container(), "");
    boolean known = Orders.before(view).isPresent();
    if (pod.isEmpty() || pod.get().getMetadata().getDeletionTimestamp() != null || !known) {
      return true;
    }
    Optional<RoomPlan.Memory> original =
        room.original(targets.original(view, pod.get()), pod.get(), container);
    if (original.isEmpty() && kubelet.hasIt(pod.get(), container)) {
      ledger.also(
          ConditionType.ROOM_RETURNED,
          Truth.TRUE,
          Reason.LIMIT_RETURNED,
          "the memory limit of container " + container + " is what it was");
      return true;
    }
    if (original.isPresent()) {
      // Asked again and again: a kubelet defers it while more memory is in use.
      PodWrites.Answer answer =
          pods.resize(planner.resized(pod.get(), container, original.get()), false);
      String sentence =
          "the memory limit of container " + container + " is to be " + original.get().limit();
      if (answer instanceof PodWrites.Refused refused) {
        sentence += ": " + refused.sentence();
      }
      ledger.also(ConditionType.ROOM_RETURNED, Truth.FALSE, Reason.LIMIT_STILL_RAISED, sentence);
    }
    return false;
  }
}
