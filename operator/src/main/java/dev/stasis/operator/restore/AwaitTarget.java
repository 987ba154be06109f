package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.NodeVerdict;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.holder.TargetReader;
import dev.stasis.operator.holder.TargetState;
import dev.stasis.operator.selector.NodeTerms;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.VolumeNodes;
import dev.stasis.operator.workflow.Progress;
import dev.stasis.operator.workflow.Step;
import dev.stasis.operator.workflow.Timeout;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;

/** Waits until the target has a node and an image, and its placeholder process runs. */
final class AwaitTarget extends Step<RestoreContext, RestorePhase> {

  private final TargetReader reader = new TargetReader();

  private final VolumeNodes volumes;

  AwaitTarget(Cluster cluster) {
    super(
        "await-target",
        List.of(RestorePhase.STARTING),
        Timeout.none("Scheduler and kubelet retry for as long as the pod exists."));
    this.volumes = new VolumeNodes(cluster);
  }

  @Override
  protected Progress observe(RestoreContext context) {
    if (context.operation().isPresent()) {
      return new Progress.Done();
    }
    if (!(context.source() instanceof Source.Ready source)) {
      // An artifact in use is not deleted; if it is lost anyway, that is reported here.
      return new Progress.Failed(noSource(context.source()));
    }
    TargetState state = reader.read(context.theTarget(), source.container());
    if (state instanceof TargetState.Broken broken) {
      return new Progress.Failed(broken.fault());
    }
    if (state instanceof TargetState.Coming coming) {
      return elsewhere(context, source)
          .<Progress>map(Progress.Failed::new)
          .orElseGet(() -> new Progress.Waiting(coming.reason(), coming.sentence()));
    }
    return RestoreIntoTarget.isLate(context, (TargetState.Holding) state)
        ? new Progress.Failed(RestoreIntoTarget.late(context))
        : new Progress.Done();
  }

  /**
   * Finds a target that waits for the node that had the volume of its artifact, while another node
   * has mounted it: only another target can be scheduled there.
   */
  private Optional<Fault> elsewhere(RestoreContext context, Source.Ready source) {
    Pod target = context.theTarget();
    if (target.getSpec().getNodeName() != null || volumes.without(source.artifact()).isEmpty()) {
      return Optional.empty();
    }
    List<String> fitting =
        context.places().orElseThrow().all().stream()
            .filter(NodeVerdict::fits)
            .map(NodeVerdict::node)
            .toList();
    return fitting.isEmpty()
            || fitting.stream()
                .anyMatch(it -> NodeTerms.admitsName(target.getSpec().getAffinity(), it))
        ? Optional.empty()
        : Optional.of(
            Fault.misfit(
                Reason.TARGET_LOST.value(),
                "affinity of pod " + target.getMetadata().getName(),
                "node "
                    + String.join(" or ", fitting)
                    + ", which has the volume of the artifact now",
                "one that excludes it"));
  }

  private static Fault noSource(Source source) {
    return source instanceof Source.NotYet notYet
        ? Fault.of(Reason.ARTIFACT_LOST.value(), "checkpointRef", notYet.sentence())
        : ((Source.Never) source).fault();
  }
}
