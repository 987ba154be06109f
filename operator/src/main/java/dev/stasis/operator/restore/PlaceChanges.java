package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.node.Candidates;
import io.fabric8.kubernetes.api.model.Node;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Triggers restores that wait for a node when another one matches: it was added, has its agent
 * back, is uncordoned, or has mounted the volume of a store.
 */
final class PlaceChanges {

  private final Cluster cluster;
  private final Clock clock;
  private final Candidates candidates = new Candidates();

  PlaceChanges(Cluster cluster, Clock clock) {
    this.cluster = cluster;
    this.clock = clock;
  }

  List<EventSource<?, GpuRestore>> sources(
      Informers informers, IndexerResourceCache<GpuRestore> cache) {
    return List.of(
        new ClusterSource<GpuNode, GpuRestore>(
            GpuNode.class, informers, change -> concerned(cache, isOfAgent(change))),
        new ClusterSource<Node, GpuRestore>(
            Node.class, informers, change -> concerned(cache, isOfNode(change))));
  }

  boolean isOfAgent(Changed<GpuNode> change) {
    return candidates.isAffected(change, cluster, clock.instant(), PlaceChanges::volumes);
  }

  /** Properties used for scheduling; the status alone, written every minute, has no effect. */
  boolean isOfNode(Changed<Node> change) {
    Optional<GpuNode> gpus = cluster.gpuNode(change.subject().getMetadata().getName());
    return gpus.isPresent()
        && (change.cameOrWent()
            || !look(gpus.get(), change.before()).equals(look(gpus.get(), change.after()))
            || !labels(change.before()).equals(labels(change.after())));
  }

  private Object look(GpuNode gpus, Optional<Node> node) {
    return candidates.of(gpus, node, clock.instant());
  }

  /** An artifact in the volume of a claim can be read where the volume is mounted. */
  private static List<String> volumes(GpuNode node) {
    return Optional.ofNullable(node.getStatus()).map(GpuNodeStatus::getStores).stream()
        .flatMap(List::stream)
        .filter(seen -> seen.volumeId() != null)
        .map(seen -> seen.name() + "=" + seen.volumeId())
        .toList();
  }

  /** The user's node selector uses them. */
  private static Object labels(Optional<Node> node) {
    return node.map(it -> Objects.requireNonNullElse(it.getMetadata().getLabels(), "none"))
        .orElse("none");
  }

  private static Collection<ResourceID> concerned(
      IndexerResourceCache<GpuRestore> cache, boolean concerns) {
    return concerns
        ? cache.list(PlaceChanges::waits).map(ResourceID::fromResource).toList()
        : List.of();
  }

  static boolean waits(GpuRestore restore) {
    return restore.getStatus() != null
        && restore.getStatus().getPhase() == RestorePhase.PENDING
        && restore.getStatus().getPod() == null;
  }
}
