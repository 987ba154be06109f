package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.holder.Standing;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.SavedState;
import dev.stasis.operator.store.VolumeNodes;
import dev.stasis.operator.target.ColdStartMaker;
import dev.stasis.operator.target.FrozenPod;
import dev.stasis.operator.target.TargetMaker;
import dev.stasis.operator.target.TargetPlan;
import dev.stasis.operator.target.Way;
import dev.stasis.operator.target.Wish;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Creates the targets of GpuRestores, and the pods of cold starts. */
@Singleton
class RestoreTargets {

  /** The deadline of its GpuRestore is not known yet; the maximum of the API. */
  private static final Duration LONGEST = Duration.ofHours(168);

  private final Cluster cluster;
  private final Candidates candidates = new Candidates();
  private final Names names;
  private final Targets targets;
  private final TargetPods pods;
  private final OwnedTargets owned;
  private final VolumeNodes volumes;
  private final TargetMaker maker;
  private final ColdStartMaker coldStarts;

  RestoreTargets(Cluster cluster, Targets targets, TargetPods pods, StasisConfig config) {
    this.cluster = cluster;
    this.names = new Names(cluster);
    this.targets = targets;
    this.pods = pods;
    this.owned = new OwnedTargets(cluster, targets);
    this.volumes = new VolumeNodes(cluster);
    this.maker = new TargetMaker(config.holder());
    this.coldStarts = new ColdStartMaker(config.holder().injected());
  }

  /** Creates the target of the next attempt; an existing one is used. */
  TargetPods.Result create(RestoreContext context) {
    Source.Ready source = (Source.Ready) context.source();
    // First: while the controller exists, no other pod is created in place of the source.
    Optional<OwnedTargets.Controller> owner = livingOwner(source);
    if (owner.isPresent()) {
      return owned.claim(context, source, owner.get());
    }
    GpuRestore restore = context.restore();
    Predicate<Fault> mayChange =
        refusal ->
            Reason.NO_NODE_FITS.is(refusal.reason())
                || (Reason.TARGET_TAKEN.is(refusal.reason())
                    && names.isFreed(restore, source.checkpoint()));
    return existing(restore, pod -> new PodState(pod).isTarget())
        .orElseGet(
            () ->
                pods.create(
                    restore.getMetadata().getNamespace(),
                    taken -> plan(context, source, taken),
                    mayChange));
  }

  private TargetPlan plan(RestoreContext context, Source.Ready source, Set<String> taken) {
    SortedSet<String> excluded = RestoreContext.excluded(context.restore());
    excluded.addAll(volumes.without(source.artifact()).keySet());
    return maker.make(frozen(source, context.now()), wish(context, source, taken, excluded));
  }

  /** Starts the workload from its image (cold start). */
  TargetPods.Result coldStart(RestoreContext context, Source.Ready source) {
    GpuRestore restore = context.restore();
    Optional<TargetPods.Result> existing = existing(restore, pod -> !new PodState(pod).isTarget());
    if (existing.isPresent()) {
      return existing.get();
    }
    Optional<OwnedTargets.Controller> owner = livingOwner(source);
    if (owner.isPresent()) {
      // Once that is recorded, the hand-over is over: this pod is deleted, and the next one is an
      // ordinary pod.
      return owned.waiting(source, owner.get());
    }
    FrozenPod frozen = frozen(source, context.now());
    return pods.create(
        restore.getMetadata().getNamespace(),
        taken ->
            new TargetPlan.Made(
                coldStarts.make(
                    frozen, wish(context, source, taken, RestoreContext.excluded(restore))),
                List.of(),
                List.of()),
        refusal -> false);
  }

  /** Turns the pod that its controller creates in the source's place into the target. */
  TargetPlan inPlace(Pod made, Source.Ready source, Instant now) {
    GpuCheckpoint checkpoint = source.checkpoint();
    String holds = source.artifact().getNode();
    return maker.make(
        frozen(source, now),
        new Wish(
            checkpoint.getMetadata().getNamespace() + "/" + checkpoint.getMetadata().getName(),
            checkpoint.getMetadata().getUid(),
            1,
            new Target(holds, null, null, null),
            new Way.InPlace(made),
            Set.of(),
            new TreeSet<>(volumes.without(source.artifact()).keySet()),
            LONGEST,
            source.raisedMemory()));
  }

  void remove(Pod pod) {
    pods.remove(pod);
  }

  private Optional<TargetPods.Result> existing(GpuRestore restore, Predicate<Pod> kind) {
    return pods.existing(restore, kind).map(TargetPods.Created::new);
  }

  private Optional<OwnedTargets.Controller> livingOwner(Source.Ready source) {
    String namespace = source.pod().getMetadata().getNamespace();
    for (OwnerReference owner : source.pod().getMetadata().getOwnerReferences()) {
      if (Boolean.TRUE.equals(owner.getController())
          && !Set.of("DaemonSet", "Node").contains(owner.getKind())
          && targets.standing(namespace, owner) instanceof Standing.Lives lives) {
        return Optional.of(new OwnedTargets.Controller(owner, lives));
      }
    }
    return Optional.empty();
  }

  private FrozenPod frozen(Source.Ready source, Instant now) {
    return new Places(cluster.gpuNodes(), cluster.nodes(), candidates)
        .frozen(
            source.sought(),
            source.checkpoint().getMetadata().getName(),
            new SavedState(source.checkpoint()).time(),
            source.checkpoint().getStatus().getWorkloadStartTime(),
            source.argv(),
            // The checkpoint's policy applied before the freeze.
            source.checkpoint().getSpec().getOptions().getSidecarPolicy(),
            now);
  }

  private static Wish wish(
      RestoreContext context,
      Source.Ready source,
      Set<String> taken,
      SortedSet<String> excludedNodes) {
    GpuRestore restore = context.restore();
    Target asked = Objects.requireNonNullElse(restore.getSpec().getTarget(), Target.ANYWHERE);
    String holds = source.artifact().getNode();
    Target target =
        new Target(
            holds == null ? asked.nodeName() : holds,
            asked.nodeSelector(),
            asked.excludeNodes(),
            asked.avoidNodes(),
            asked.podName(),
            asked.labels());
    return new Wish(
        restore.getMetadata().getNamespace() + "/" + restore.getMetadata().getName(),
        restore.getMetadata().getUid(),
        context.attempts() + 1,
        target,
        new Way.Alone(true),
        taken,
        excludedNodes,
        restore.getSpec().getOptions().getDeadline().duration(),
        source.raisedMemory());
  }
}
