package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of pods that are moved at the same time. A started migration counts until it
 * ends; one that this operator admitted counts before a watch has shown its start.
 */
@Singleton
class Throttle {

  private static final Set<MigrationPhase> MOVING =
      Set.of(
          MigrationPhase.TARGET_STARTING,
          MigrationPhase.FREEZING,
          MigrationPhase.TRANSFERRING,
          MigrationPhase.RESTORING,
          MigrationPhase.VERIFYING,
          MigrationPhase.SWITCHING_OVER);

  private final Cluster cluster;
  private final StasisConfig.Migrations limits;

  /** Uids of the admitted migrations. */
  private final Map<String, Moving> through = new HashMap<>();

  /** The source nodes of the admitted migrations. */
  private record Moving(String namespace, String node) {}

  Throttle(Cluster cluster, StasisConfig config) {
    this.cluster = cluster;
    this.limits = config.migrations();
  }

  /**
   * Returns why it must wait; empty if it may proceed, and counts as admitted until it ends or is
   * withdrawn.
   */
  synchronized Optional<String> take(GpuMigration migration, String node) {
    String uid = migration.getMetadata().getUid();
    if (through.containsKey(uid)) {
      return Optional.empty();
    }
    // A migration with a manually removed finalizer is not withdrawn.
    Set<String> known =
        cluster.migrations().stream().map(Throttle::uidOf).collect(Collectors.toSet());
    through.keySet().retainAll(known);
    String namespace = migration.getMetadata().getNamespace();
    Map<String, Moving> moving = new HashMap<>(through);
    others(uid)
        .forEach(
            other ->
                moving.put(
                    uidOf(other),
                    new Moving(
                        other.getMetadata().getNamespace(), node(other.getStatus().getSource()))));
    if (moving.size() >= limits.perCluster()) {
      return Optional.of(sentence("in the cluster", limits.perCluster(), moving.size()));
    }
    long own = moving.values().stream().filter(it -> namespace.equals(it.namespace())).count();
    if (own >= limits.perNamespace()) {
      return Optional.of(sentence("of namespace " + namespace, limits.perNamespace(), own));
    }
    long leaving = moving.values().stream().filter(it -> node.equals(it.node())).count();
    if (leaving >= limits.perSourceNode()) {
      return Optional.of(sentence("from node " + node, limits.perSourceNode(), leaving));
    }
    through.put(uid, new Moving(namespace, node));
    return Optional.empty();
  }

  /** It has ended, or waits for another reason. */
  synchronized void giveBack(GpuMigration migration) {
    through.remove(uidOf(migration));
  }

  /** Nodes that have reached the limit of incoming migrations, with a sentence. */
  Map<String, String> full(GpuMigration migration) {
    return others(uidOf(migration))
        .map(other -> node(other.getStatus().getTarget()))
        .filter(node -> !node.isEmpty())
        .collect(Collectors.groupingBy(node -> node, Collectors.counting()))
        .entrySet()
        .stream()
        .filter(entry -> entry.getValue() >= limits.perTargetNode())
        .collect(
            Collectors.toMap(
                Map.Entry::getKey,
                entry ->
                    sentence(
                        "to node " + entry.getKey(), limits.perTargetNode(), entry.getValue())));
  }

  private Stream<GpuMigration> others(String uid) {
    return cluster.migrations().stream()
        .filter(other -> !uid.equals(uidOf(other)))
        .filter(other -> other.getStatus() != null && other.getStatus().getPhase() != null)
        .filter(other -> MOVING.contains(other.getStatus().getPhase()));
  }

  private static String sentence(String where, int limit, long found) {
    return "migrations " + where + ": expected fewer than " + limit + ", got " + found;
  }

  private static String node(@Nullable ObservedPod pod) {
    return pod == null || pod.node() == null ? "" : pod.node();
  }

  private static String uidOf(GpuMigration migration) {
    return migration.getMetadata().getUid();
  }
}
