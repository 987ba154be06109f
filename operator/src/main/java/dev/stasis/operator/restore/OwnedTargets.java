package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.holder.Standing;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.node.AgentLife;
import dev.stasis.operator.owner.Waiting;
import dev.stasis.operator.pod.FormerPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.selector.NodeTerms;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.target.AvoidedNodes;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Targets that controllers created: each waits behind a scheduling gate until it is claimed. */
final class OwnedTargets {

  private static final String NODE_NAME = "metadata.name";

  private final Cluster cluster;
  private final Targets targets;
  private final AgentLife agents = new AgentLife();

  OwnedTargets(Cluster cluster, Targets targets) {
    this.cluster = cluster;
    this.targets = targets;
  }

  /**
   * An existing controller.
   *
   * @param reference to it
   * @param standing its state
   */
  record Controller(OwnerReference reference, Standing.Lives standing) {}

  /**
   * Claims the target that waits for the checkpoint, and lets the scheduler place it, once no pod
   * of the workload is left that still ends.
   */
  TargetPods.Result claim(RestoreContext context, Source.Ready source, Controller owner) {
    Optional<Pod> waiting = find(source);
    if (waiting.isEmpty()) {
      return none(source, owner);
    }
    Optional<Pod> ending = ending(source.checkpoint(), context.now());
    if (ending.isPresent()) {
      return new TargetPods.Postponed(
          Reason.IN_PROGRESS,
          "pod %s is being removed, and its workload may still run"
              .formatted(ending.get().getMetadata().getName()));
    }
    Targets.Answer answer = targets.change(claimed(waiting.get(), context));
    if (answer instanceof Targets.Accepted accepted) {
      return new TargetPods.Created(accepted.pod());
    }
    if (answer instanceof Targets.Refused refused) {
      return new TargetPods.Postponed(Reason.REFUSED_BY_CLUSTER, refused.sentence());
    }
    return none(source, owner);
  }

  TargetPods.Result waiting(Source.Ready source, Controller owner) {
    return find(source)
        .<TargetPods.Result>map(pod -> new TargetPods.Created(pod))
        .orElseGet(() -> none(source, owner));
  }

  /**
   * Calls the API server only if the watch shows one: each pod that a controller creates triggers
   * its restore.
   */
  private Optional<Pod> find(Source.Ready source) {
    String namespace = source.checkpoint().getMetadata().getNamespace();
    String uid = source.checkpoint().getMetadata().getUid();
    boolean seen =
        cluster.pods(namespace).stream()
            .filter(Waiting::is)
            .anyMatch(
                pod -> uid.equals(pod.getMetadata().getLabels().get(Api.OPERATION_UID_LABEL)));
    return seen
        ? targets.madeFor(namespace, uid).stream().filter(Waiting::is).findFirst()
        : Optional.empty();
  }

  /**
   * Returns a pod of the workload that may run until its grace period ends; its controller replaces
   * it earlier. An evicted or frozen pod does not run, and a node that does not respond may never
   * report the end.
   */
  private Optional<Pod> ending(GpuCheckpoint checkpoint, Instant now) {
    return Optional.ofNullable(checkpoint.getStatus().getPod())
        .map(ObservedPod::uid)
        .flatMap(uid -> ending(checkpoint, uid, now));
  }

  private Optional<Pod> ending(GpuCheckpoint checkpoint, String uid, Instant now) {
    boolean evicted = checkpoint.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT;
    return cluster.pods(checkpoint.getMetadata().getNamespace()).stream()
        .map(PodState::new)
        .filter(state -> state.isBeingDeleted() && !state.isOver() && !state.isFrozen())
        .map(PodState::pod)
        .filter(
            pod ->
                (!evicted && uid.equals(pod.getMetadata().getUid()))
                    || FormerPods.before(pod.getMetadata()).uids().contains(uid))
        .filter(pod -> isOnRespondingNode(pod, now))
        .findFirst();
  }

  private boolean isOnRespondingNode(Pod pod, Instant now) {
    return Optional.ofNullable(pod.getSpec().getNodeName())
        .flatMap(cluster::gpuNode)
        .filter(node -> agents.silent(node, now).isEmpty())
        .isPresent();
  }

  private static TargetPods.Postponed none(Source.Ready source, Controller owner) {
    return new TargetPods.Postponed(
        Reason.OWNER_LIVES,
        "replacement of pod %s: expected one that its controller creates, got %s %s, which %s"
            .formatted(
                source.pod().getMetadata().getName(),
                owner.reference().getKind(),
                owner.reference().getName(),
                owner.standing().makesNone().orElse("has not created one yet")));
  }

  private static Pod claimed(Pod waiting, RestoreContext context) {
    GpuRestore restore = context.restore();
    Target asked = Objects.requireNonNullElse(restore.getSpec().getTarget(), Target.ANYWHERE);
    Pod claimed =
        new PodBuilder(waiting)
            .editMetadata()
            .addToLabels(asked.labels())
            .addToLabels(Api.OPERATION_UID_LABEL, restore.getMetadata().getUid())
            .addToAnnotations(
                Api.RESTORED_FROM_ANNOTATION,
                restore.getMetadata().getNamespace() + "/" + restore.getMetadata().getName())
            .endMetadata()
            .editSpec()
            .removeMatchingFromSchedulingGates(gate -> gate.getName().equals(Waiting.GATE))
            .addToNodeSelector(asked.nodeSelector())
            .endSpec()
            .build();
    narrow(claimed.getSpec().getAffinity(), asked.nodeName(), context);
    return AvoidedNodes.in(claimed, restore.getSpec().getTarget());
  }

  /** While a pod is gated its node affinity may become narrower, never wider. */
  private static void narrow(
      @Nullable Affinity affinity, @Nullable String node, RestoreContext context) {
    List<NodeSelectorTerm> terms =
        NodeTerms.required(affinity).map(NodeSelector::getNodeSelectorTerms).orElse(List.of());
    for (NodeSelectorTerm term : terms) {
      List<NodeSelectorRequirement> fields = term.getMatchFields();
      if (node != null && fields.stream().noneMatch(it -> it.getValues().contains(node))) {
        fields.add(new NodeSelectorRequirement(NODE_NAME, "In", List.of(node)));
      }
      RestoreContext.excluded(context.restore())
          .forEach(
              never -> fields.add(new NodeSelectorRequirement(NODE_NAME, "NotIn", List.of(never))));
    }
  }
}
