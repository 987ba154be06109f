package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicyStatus;
import dev.stasis.api.v1beta1.policy.Preemption;
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

/** Writes preemptions into the status of a policy. */
final class PreemptionStatusUpdater {

  private static final int LAST = 20;

  private final GpuPreemptionPolicyStatus status;
  private final Instant now;
  private int victims;

  /**
   * @param policy with a status
   */
  PreemptionStatusUpdater(GpuPreemptionPolicy policy, Instant now) {
    this.status = policy.getStatus();
    this.now = now;
  }

  void add(Pod preemptor, NodeAssignment assignment) {
    victims += assignment.victims().size();
    List<Preemption> all = new ArrayList<>(Objects.requireNonNullElse(status.getLast(), List.of()));
    all.add(
        0,
        new Preemption(
            now.truncatedTo(ChronoUnit.SECONDS),
            reference(preemptor),
            assignment.node(),
            assignment.victims().stream().map(victim -> reference(victim.pod())).toList(),
            Reason.ROOM_BEING_MADE.value(),
            assignment.why()));
    status.setLast(all.subList(0, Math.min(all.size(), LAST)));
  }

  /**
   * Updates counters, and the outcome of earlier preemptions.
   *
   * @param used budget that was used before this pass
   */
  void write(
      Collection<String> preemptingClasses,
      List<PreemptedPod> preempted,
      int waiting,
      int used,
      int candidates,
      Cluster cluster) {
    status.setPreemptingClasses(
        preemptingClasses.isEmpty() ? null : List.copyOf(preemptingClasses));
    status.setBudgetUsed(used + victims);
    status.setWaiting(waiting);
    status.setCandidates(candidates);
    status.setEvicted((int) preempted.stream().filter(PreemptedPod::isAway).count());
    if (status.getLast() != null) {
      status.setLast(
          status.getLast().stream().map(it -> followed(it, preempted, cluster)).toList());
    }
  }

  private static Preemption followed(
      Preemption one, List<PreemptedPod> preempted, Cluster cluster) {
    if (!Reason.ROOM_BEING_MADE.is(one.reason()) && !Reason.ROOM_MADE.is(one.reason())) {
      return one;
    }
    ObjectReference who = one.preemptor();
    Optional<Pod> pod =
        cluster
            .pod(Objects.requireNonNullElse(who.namespace(), ""), who.name())
            .filter(it -> it.getMetadata().getUid().equals(who.uid()));
    List<PreemptedPod> own =
        preempted.stream().filter(it -> it.preemptor().uid().equals(who.uid())).toList();
    boolean active = own.isEmpty() || own.stream().anyMatch(PreemptedPod::isActive);
    Reason reason =
        pod.isEmpty()
            ? Reason.PREEMPTOR_GONE
            : pod.get().getSpec().getNodeName() != null
                ? Reason.PREEMPTOR_PLACED
                : active ? Reason.ROOM_BEING_MADE : Reason.ROOM_MADE;
    return reason.value().equals(one.reason())
        ? one
        : new Preemption(one.time(), who, one.node(), one.victims(), reason.value(), one.message());
  }

  private static ObjectReference reference(Pod pod) {
    return new ObjectReference(
        "Pod",
        pod.getMetadata().getNamespace(),
        pod.getMetadata().getName(),
        pod.getMetadata().getUid());
  }
}
