package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.operation.OperationSource;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.status.CurrentPhase;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Maps changes of other objects to the GpuCheckpoints that they concern. */
@Singleton
class CheckpointEventSources {

  private static final String BY_POD = "pod";
  private static final String BY_NODE = "node";
  private static final String BY_PHASE = "phase";

  private final Informers informers;
  private final Cluster cluster;
  private final OperationSource operations;
  private final NamespaceLimit limit;
  private final NodeChangeFilter changes;

  CheckpointEventSources(
      Informers informers,
      OperationSource operations,
      StasisConfig config,
      Clock clock,
      RestorableCondition restorable) {
    this.informers = informers;
    this.cluster = informers;
    this.operations = operations;
    this.limit = new NamespaceLimit(config.checkpointsPerNamespace());
    this.changes = new NodeChangeFilter(informers, clock, restorable);
  }

  List<EventSource<?, GpuCheckpoint>> sources(IndexerResourceCache<GpuCheckpoint> cache) {
    cache.addIndexers(
        Map.of(
            BY_POD, CheckpointEventSources::podsOf,
            BY_NODE, CheckpointEventSources::nodesOf,
            BY_PHASE, checkpoint -> List.of(CurrentPhase.of(checkpoint).value())));
    return List.of(
        operations.of(RequesterKind.CHECKPOINT, change -> isKnown(cluster, change)),
        new WishSource<>(GpuCheckpoint.class, informers),
        new ClusterSource<GpuNodeOperation, GpuCheckpoint>(
            "operation-ends",
            GpuNodeOperation.class,
            informers,
            change -> ofOperation(cache, change)),
        new ClusterSource<Pod, GpuCheckpoint>(Pod.class, informers, change -> ofPod(cache, change)),
        new ClusterSource<Node, GpuCheckpoint>(
            Node.class, informers, change -> ofNode(cache, change)),
        new ClusterSource<GpuNode, GpuCheckpoint>(
            GpuNode.class, informers, change -> ofGpuNode(cache, change)),
        new ClusterSource<Namespace, GpuCheckpoint>(
            Namespace.class, informers, change -> ofNamespace(cache, change)),
        new ClusterSource<GpuCheckpoint, GpuCheckpoint>(
            "time-slices", GpuCheckpoint.class, informers, change -> ofTimeSlice(cache, change)),
        new ClusterSource<GpuCheckpoint, GpuCheckpoint>(
            "namespace-limit",
            GpuCheckpoint.class,
            informers,
            change -> ids(limit.admitted(cluster, change))),
        new ClusterSource<GpuRestore, GpuCheckpoint>(
            GpuRestore.class, informers, CheckpointEventSources::ofRestore));
  }

  /** A namespace that is being deleted: its pods are deleted next, and must run until then. */
  private static Collection<ResourceID> ofNamespace(
      IndexerResourceCache<GpuCheckpoint> cache, Changed<Namespace> change) {
    boolean goes =
        change.after().filter(it -> it.getMetadata().getDeletionTimestamp() != null).isPresent();
    return goes
        ? ids(cache.byIndex(Cache.NAMESPACE_INDEX, change.subject().getMetadata().getName()))
        : List.of();
  }

  /**
   * Returns whether the GpuCheckpoint has caused a change of its operation, and waits for another
   * one: it requested a freeze, or deleted the operation of a freeze after it became Ready.
   */
  static boolean isKnown(Cluster cluster, Changed<GpuNodeOperation> change) {
    GpuNodeOperation operation = change.subject();
    if (operation.getSpec().getType() != OperationType.CHECKPOINT) {
      return false;
    }
    if (change.before().isEmpty()) {
      return operation.getStatus() == null
          && operation.getMetadata().getDeletionTimestamp() == null;
    }
    ObjectReference requester = operation.getSpec().getRequester();
    return change.after().isEmpty()
        && OperationView.of(operation).isFinal()
        && cluster
            .find(GpuCheckpoint.class, requester.namespace() + "/" + requester.name())
            .filter(it -> it.getMetadata().getUid().equals(requester.uid()))
            .filter(it -> it.getMetadata().getDeletionTimestamp() == null)
            .filter(it -> it.getSpec().getAfterCheckpoint() == AfterCheckpoint.RESUME)
            .filter(it -> CurrentPhase.of(it) == CheckpointPhase.READY)
            .isPresent();
  }

  /**
   * An operation has ended: checkpoints that wait for its node or its pod may begin. One with an
   * unclaimed operation waits for its agent alone.
   */
  private Collection<ResourceID> ofOperation(
      IndexerResourceCache<GpuCheckpoint> cache, Changed<GpuNodeOperation> change) {
    boolean ended =
        change.after().map(after -> OperationView.of(after).isFinal()).orElse(true)
            && change.before().isPresent();
    if (!ended || OperationSource.isReleased(change)) {
      return List.of();
    }
    return ids(
        pendingOn(cache, change.subject().getSpec().getNodeName())
            .filter(
                it ->
                    cluster.operations(it.getMetadata().getUid()).stream()
                        .allMatch(own -> OperationView.of(own).isClaimed()))
            .toList());
  }

  /** Returns those that are not admitted, and whose pod is on a node. */
  private Stream<GpuCheckpoint> pendingOn(IndexerResourceCache<GpuCheckpoint> cache, String node) {
    return cluster.podsOn(node).stream()
        .flatMap(pod -> cache.byIndex(BY_POD, key(pod)).stream())
        .filter(checkpoint -> CurrentPhase.of(checkpoint) == CheckpointPhase.PENDING);
  }

  private Collection<ResourceID> ofNode(
      IndexerResourceCache<GpuCheckpoint> cache, Changed<Node> change) {
    boolean concerns =
        change.cameOrWent()
            || !placing(change.before().orElseThrow())
                .equals(placing(change.after().orElseThrow()));
    return concerns
        ? onNodeOrReady(cache, change.subject().getMetadata().getName(), false)
        : List.of();
  }

  private static String placing(Node node) {
    String ready =
        node.getStatus() == null
            ? ""
            : node.getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals("Ready"))
                .map(condition -> condition.getStatus())
                .findFirst()
                .orElse("");
    return ready + "/" + Boolean.TRUE.equals(node.getSpec().getUnschedulable());
  }

  private Collection<ResourceID> ofGpuNode(
      IndexerResourceCache<GpuCheckpoint> cache, Changed<GpuNode> change) {
    return changes.isRelevant(change)
        ? onNodeOrReady(cache, change.subject().getMetadata().getName(), true)
        : List.of();
  }

  private Collection<ResourceID> onNodeOrReady(
      IndexerResourceCache<GpuCheckpoint> cache, String node, boolean wasGpuNode) {
    Set<ResourceID> concerned = new LinkedHashSet<>(ids(cache.byIndex(BY_NODE, node)));
    if (cluster.gpuNode(node).isEmpty() && !wasGpuNode) {
      // No workload with a GPU is ever placed there.
      return concerned;
    }
    concerned.addAll(
        ids(changes.concerned(cache.byIndex(BY_PHASE, CheckpointPhase.READY.value()))));
    // One that is not admitted waits for the node of its pod, and an import for any node.
    Stream<GpuCheckpoint> imports =
        cache.byIndex(BY_PHASE, CheckpointPhase.PENDING.value()).stream()
            .filter(it -> it.getSpec().getImportFrom() != null);
    concerned.addAll(ids(Stream.concat(pendingOn(cache, node), imports).toList()));
    return concerned;
  }

  /** Those of the pod; and when it ends, those that wait for its time slice to end. */
  private static Collection<ResourceID> ofPod(
      IndexerResourceCache<GpuCheckpoint> cache, Changed<Pod> change) {
    List<GpuCheckpoint> its = cache.byIndex(BY_POD, key(change.subject()));
    Set<ResourceID> concerned = new LinkedHashSet<>();
    if (!its.isEmpty() && !isFrozenConditionOnly(change)) {
      concerned.addAll(ids(its));
    }
    String node = change.subject().getSpec().getNodeName();
    if (node != null
        && !change
            .before()
            .map(CheckpointEventSources::phaseOf)
            .equals(change.after().map(CheckpointEventSources::phaseOf))) {
      concerned.addAll(ids(timeSliced(cache, node)));
    }
    return concerned;
  }

  /** Returns whether only the condition has changed by which the operator reports a freeze. */
  static boolean isFrozenConditionOnly(Changed<Pod> change) {
    if (change.cameOrWent()) {
      return false;
    }
    Pod before = change.before().orElseThrow();
    Pod after = change.after().orElseThrow();
    // A builder of the whole pod would copy its spec, which is most of it.
    return Objects.equals(before.getSpec(), after.getSpec())
        && withoutVersion(before).equals(withoutVersion(after))
        && withoutFrozen(before).equals(withoutFrozen(after));
  }

  private static ObjectMeta withoutVersion(Pod pod) {
    return new ObjectMetaBuilder(pod.getMetadata()).withResourceVersion(null).build();
  }

  private static PodStatus withoutFrozen(Pod pod) {
    return new PodStatusBuilder(Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new))
        .removeMatchingFromConditions(it -> Api.FROZEN_POD_CONDITION.equals(it.getType()))
        .build();
  }

  private static String phaseOf(Pod pod) {
    return pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
  }

  /** The state of a time-sliced checkpoint has changed, on which the others depend. */
  private static Collection<ResourceID> ofTimeSlice(
      IndexerResourceCache<GpuCheckpoint> cache, Changed<GpuCheckpoint> change) {
    if (change
        .before()
        .map(CheckpointEventSources::timeSlice)
        .equals(change.after().map(CheckpointEventSources::timeSlice))) {
      return List.of();
    }
    return nodesOf(change.subject()).stream()
        .flatMap(node -> timeSliced(cache, node).stream())
        .filter(it -> !it.getMetadata().getUid().equals(change.subject().getMetadata().getUid()))
        .map(ResourceID::fromResource)
        .toList();
  }

  private static List<Object> timeSlice(GpuCheckpoint one) {
    return one.getSpec().getOptions().getTimeSlice() == null
        ? List.of()
        : List.of(
            CurrentPhase.of(one),
            one.getSpec().getOptions().getTimeSlice(),
            one.getSpec().getDesiredState(),
            TimeSliceQueue.leaves(one),
            Optional.ofNullable(one.getStatus()).map(it -> it.getTurn()).map(it -> it.since()));
  }

  private static List<GpuCheckpoint> timeSliced(
      IndexerResourceCache<GpuCheckpoint> cache, String node) {
    return cache.byIndex(BY_NODE, node).stream()
        .filter(it -> it.getSpec().getOptions().getTimeSlice() != null)
        .toList();
  }

  private static Collection<ResourceID> ofRestore(Changed<GpuRestore> change) {
    GpuRestore restore = change.subject();
    return List.of(
        new ResourceID(restore.getSpec().checkpointName(), restore.getMetadata().getNamespace()));
  }

  private static List<ResourceID> ids(Collection<GpuCheckpoint> checkpoints) {
    return checkpoints.stream().map(ResourceID::fromResource).toList();
  }

  private static String key(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }

  private static String podOf(GpuCheckpoint checkpoint) {
    return checkpoint.getMetadata().getNamespace() + "/" + checkpoint.getSpec().podName();
  }

  private static List<String> podsOf(GpuCheckpoint checkpoint) {
    // The pod of an import does not exist.
    return checkpoint.getSpec().getImportFrom() == null ? List.of(podOf(checkpoint)) : List.of();
  }

  private static List<String> nodesOf(GpuCheckpoint checkpoint) {
    return checkpoint.getStatus() == null
        ? List.of()
        : Stream.concat(
                Optional.ofNullable(checkpoint.getStatus().getPod())
                    .map(ObservedPod::node)
                    .stream(),
                Optional.ofNullable(checkpoint.getStatus().getArtifact())
                    .map(ArtifactStatus::getNode)
                    .stream())
            .distinct()
            .toList();
  }
}
