package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.holder.Standing;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.owner.Waiting;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.NodeSelectorTerm;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Targets that their controllers made: each waits behind a scheduling gate until it is claimed. */
final class OwnedTargets {

  private static final String NODE_NAME = "metadata.name";

  private final Cluster cluster;
  private final Targets targets;

  OwnedTargets(Cluster cluster, Targets targets) {
    this.cluster = cluster;
    this.targets = targets;
  }

  /**
   * A controller that lives.
   *
   * @param reference to it
   * @param standing what it says of itself
   */
  record Controller(OwnerReference reference, Standing.Lives standing) {}

  /** Claims the one that waits for the checkpoint, and lets the scheduler have it. */
  TargetWork.Made claim(View view, Source.Ready source, Controller owner) {
    Optional<Pod> waiting = find(source);
    if (waiting.isEmpty()) {
      return none(source, owner);
    }
    Targets.Answer answer = targets.change(claimed(waiting.get(), view));
    if (answer instanceof Targets.Accepted accepted) {
      return new TargetWork.Pods(accepted.pod(), List.of(), List.of());
    }
    if (answer instanceof Targets.Refused refused) {
      return new TargetWork.Later(Reason.REFUSED_BY_CLUSTER, refused.sentence());
    }
    return none(source, owner);
  }

  /** The one that waits. */
  TargetWork.Made waiting(Source.Ready source, Controller owner) {
    return find(source)
        .<TargetWork.Made>map(pod -> new TargetWork.Pods(pod, List.of(), List.of()))
        .orElseGet(() -> none(source, owner));
  }

  /**
   * Asks the API server only when the watch shows one: each pod that a controller makes wakes its
   * restore.
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

  private static TargetWork.Later none(Source.Ready source, Controller owner) {
    return new TargetWork.Later(
        Reason.OWNER_LIVES,
        "pod in the place of %s: wanted one that its controller makes, found %s %s, which %s"
            .formatted(
                source.pod().getMetadata().getName(),
                owner.reference().getKind(),
                owner.reference().getName(),
                owner.standing().makesNone().orElse("has not made one yet")));
  }

  private static Pod claimed(Pod waiting, View view) {
    GpuRestore restore = view.restore();
    Target asked =
        Objects.requireNonNullElse(
            restore.getSpec().getTarget(), new Target(null, null, null, null));
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
    narrow(claimed.getSpec().getAffinity(), asked.nodeName(), view);
    return RatherNot.on(claimed, restore);
  }

  /** While a pod is gated its node affinity may become narrower, never wider. */
  private static void narrow(@Nullable Affinity affinity, @Nullable String node, View view) {
    if (affinity == null
        || affinity.getNodeAffinity() == null
        || affinity.getNodeAffinity().getRequiredDuringSchedulingIgnoredDuringExecution() == null) {
      return;
    }
    for (NodeSelectorTerm term :
        affinity
            .getNodeAffinity()
            .getRequiredDuringSchedulingIgnoredDuringExecution()
            .getNodeSelectorTerms()) {
      List<NodeSelectorRequirement> fields = term.getMatchFields();
      if (node != null && fields.stream().noneMatch(it -> it.getValues().contains(node))) {
        fields.add(new NodeSelectorRequirement(NODE_NAME, "In", List.of(node)));
      }
      View.excluded(view.restore())
          .forEach(
              never -> fields.add(new NodeSelectorRequirement(NODE_NAME, "NotIn", List.of(never))));
    }
  }
}
