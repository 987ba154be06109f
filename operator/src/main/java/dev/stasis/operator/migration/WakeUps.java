package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.cluster.WishSource;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.operation.OperationSource;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
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

/** Maps changes of other kinds to GpuMigrations. */
@Singleton
class WakeUps {

  private static final String BY_POD = "pod";
  private static final String BY_NODE = "node";
  private static final String BY_UID = "uid";
  private static final String PENDING = "pending";

  private final Informers informers;
  private final Cluster cluster;
  private final OperationSource operations;
  private final Clock clock;
  private final Candidates candidates = new Candidates();

  WakeUps(Informers informers, OperationSource operations, Clock clock) {
    this.informers = informers;
    this.cluster = informers;
    this.operations = operations;
    this.clock = clock;
  }

  List<EventSource<?, GpuMigration>> sources(IndexerResourceCache<GpuMigration> cache) {
    cache.addIndexers(
        Map.of(
            BY_POD,
            WakeUps::podsOf,
            BY_NODE,
            WakeUps::nodesOf,
            BY_UID,
            migration -> List.of(migration.getMetadata().getUid()),
            PENDING,
            migration -> isPending(migration) ? List.of(PENDING) : List.of()));
    return List.of(
        operations.of(RequesterKind.MIGRATION),
        new WishSource<>(GpuMigration.class, informers),
        new ClusterSource<Pod, GpuMigration>(
            Pod.class, informers, change -> ofPod(cache, change.subject())),
        new ClusterSource<GpuCheckpoint, GpuMigration>(
            GpuCheckpoint.class, informers, change -> ofHalf(cache, change.subject())),
        new ClusterSource<GpuRestore, GpuMigration>(
            GpuRestore.class, informers, change -> ofHalf(cache, change.subject())),
        new ClusterSource<GpuNode, GpuMigration>(
            GpuNode.class, informers, change -> ofGpuNode(cache, change)),
        new ClusterSource<Node, GpuMigration>(
            Node.class,
            informers,
            change ->
                change.cameOrWent()
                    ? onNodeOrPending(cache, change.subject().getMetadata().getName())
                    : List.of()),
        new ClusterSource<GpuMigration, GpuMigration>(
            "turns", GpuMigration.class, informers, change -> nextInTurn(cache, change)));
  }

  /** Its source, or its target, whose annotation names it. */
  private static Collection<ResourceID> ofPod(IndexerResourceCache<GpuMigration> cache, Pod pod) {
    String namespace = pod.getMetadata().getNamespace();
    Set<ResourceID> concerned =
        new LinkedHashSet<>(
            ids(cache.byIndex(BY_POD, namespace + "/" + pod.getMetadata().getName())));
    TargetPods.requester(pod).ifPresent(concerned::add);
    return concerned;
  }

  /** Objects that were created for it have its uid. */
  private static Collection<ResourceID> ofHalf(
      IndexerResourceCache<GpuMigration> cache, HasMetadata made) {
    return Marks.label(made, Api.OPERATION_UID_LABEL).stream()
        .flatMap(uid -> ids(cache.byIndex(BY_UID, uid)).stream())
        .toList();
  }

  private Collection<ResourceID> ofGpuNode(
      IndexerResourceCache<GpuMigration> cache, Changed<GpuNode> change) {
    return candidates.isAffected(change, cluster, clock.instant(), WakeUps::what)
        ? onNodeOrPending(cache, change.subject().getMetadata().getName())
        : List.of();
  }

  /** The relevant properties of a node besides its offer: its stores, and the key of its agent. */
  private static List<Object> what(GpuNode node) {
    return List.of(
        Optional.ofNullable(node.getStatus())
            .map(status -> status.getAgent())
            .map(agent -> agent.transferAddress() + agent.certificate())
            .orElse(""),
        Optional.ofNullable(node.getStatus())
            .map(status -> status.getStores())
            .map(stores -> stores.stream().map(it -> it.name() + "=" + it.writable()).toList())
            .orElse(List.of()));
  }

  private static Collection<ResourceID> onNodeOrPending(
      IndexerResourceCache<GpuMigration> cache, String node) {
    Set<ResourceID> concerned = new LinkedHashSet<>(ids(cache.byIndex(BY_NODE, node)));
    concerned.addAll(ids(cache.byIndex(PENDING, PENDING)));
    return concerned;
  }

  /** A migration has ended: waiting ones may proceed. */
  private static Collection<ResourceID> nextInTurn(
      IndexerResourceCache<GpuMigration> cache, Changed<GpuMigration> change) {
    boolean ended =
        change.after().map(WakeUps::isOver).orElse(true)
            && !change.before().map(WakeUps::isOver).orElse(true);
    return ended ? ids(cache.byIndex(PENDING, PENDING)) : List.of();
  }

  private static boolean isOver(GpuMigration migration) {
    return phase(migration).map(MigrationPhase::isFinal).orElse(false);
  }

  private static boolean isPending(GpuMigration migration) {
    return phase(migration).map(it -> it == MigrationPhase.PENDING).orElse(true);
  }

  private static Optional<MigrationPhase> phase(GpuMigration migration) {
    return Optional.ofNullable(migration.getStatus()).map(status -> status.getPhase());
  }

  private static List<String> podsOf(GpuMigration migration) {
    String namespace = migration.getMetadata().getNamespace() + "/";
    return Stream.concat(
            Stream.of(migration.getSpec().podName()),
            Optional.ofNullable(migration.getStatus())
                .map(status -> status.getTarget())
                .map(ObservedPod::name)
                .stream())
        .map(name -> namespace + name)
        .toList();
  }

  private static List<String> nodesOf(GpuMigration migration) {
    return migration.getStatus() == null
        ? List.of()
        : Stream.of(migration.getStatus().getSource(), migration.getStatus().getTarget())
            .filter(Objects::nonNull)
            .map(ObservedPod::node)
            .filter(Objects::nonNull)
            .distinct()
            .toList();
  }

  private static List<ResourceID> ids(Collection<GpuMigration> migrations) {
    return migrations.stream().map(ResourceID::fromResource).toList();
  }
}
