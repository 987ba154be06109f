package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.policy.GpuPreemptionPolicyStatus;
import dev.stasis.api.v1alpha1.policy.Preemption;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Puts into the status what a policy did. */
final class Ledger {

  private static final int LAST = 20;

  private final GpuPreemptionPolicyStatus status;
  private final Instant now;
  private int taken;

  /**
   * @param policy with a status
   */
  Ledger(GpuPreemptionPolicy policy, Instant now) {
    this.status = policy.getStatus();
    this.now = now;
  }

  void preempting(Collection<String> classes) {
    status.setPreemptingClasses(classes.isEmpty() ? null : List.copyOf(classes));
  }

  /** Room is being made. */
  void made(Pod preemptor, Decision.Room room) {
    taken += room.victims().size();
    List<Preemption> all = new ArrayList<>(Objects.requireNonNullElse(status.getLast(), List.of()));
    all.add(
        0,
        new Preemption(
            now.truncatedTo(ChronoUnit.SECONDS),
            reference(preemptor),
            room.node(),
            room.victims().stream().map(victim -> reference(victim.pod())).toList(),
            Reason.ROOM_BEING_MADE.word(),
            room.why()));
    status.setLast(all.subList(0, Math.min(all.size(), LAST)));
  }

  /** How many have been taken in this look. */
  int taken() {
    return taken;
  }

  void write(List<Yield> yields, int waiting, int used, int candidates, Cluster cluster) {
    status.setBudgetUsed(used);
    status.setWaiting(waiting);
    status.setCandidates(candidates);
    status.setEvicted((int) yields.stream().filter(Yield::isAway).count());
    if (status.getLast() != null) {
      status.setLast(status.getLast().stream().map(it -> followed(it, yields, cluster)).toList());
    }
  }

  private static Preemption followed(Preemption one, List<Yield> yields, Cluster cluster) {
    if (!Reason.ROOM_BEING_MADE.word().equals(one.reason())
        && !Reason.ROOM_MADE.word().equals(one.reason())) {
      return one;
    }
    ObjectReference who = one.preemptor();
    Optional<Pod> pod =
        cluster
            .pod(Objects.requireNonNullElse(who.namespace(), ""), who.name())
            .filter(it -> it.getMetadata().getUid().equals(who.uid()));
    List<Yield> own = yields.stream().filter(it -> it.preemptor().uid().equals(who.uid())).toList();
    boolean working = own.isEmpty() || own.stream().anyMatch(Yield::isAtWork);
    Reason reason =
        pod.isEmpty()
            ? Reason.PREEMPTOR_GONE
            : pod.get().getSpec().getNodeName() != null
                ? Reason.PREEMPTOR_PLACED
                : working ? Reason.ROOM_BEING_MADE : Reason.ROOM_MADE;
    return reason.word().equals(one.reason())
        ? one
        : new Preemption(one.time(), who, one.node(), one.victims(), reason.word(), one.message());
  }

  private static ObjectReference reference(Pod pod) {
    return new ObjectReference(
        "Pod",
        pod.getMetadata().getNamespace(),
        pod.getMetadata().getName(),
        pod.getMetadata().getUid());
  }
}
