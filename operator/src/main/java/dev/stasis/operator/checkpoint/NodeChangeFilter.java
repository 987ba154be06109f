package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.node.NodeStores;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import java.time.Clock;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Selects the Ready checkpoints that a change of a node concerns: those whose condition Restorable
 * is wrong since then. A rolling restart of all agents changes every node, and would otherwise
 * reconcile every checkpoint once for each node.
 */
final class NodeChangeFilter {

  private final Cluster cluster;
  private final Clock clock;
  private final Candidates candidates = new Candidates();
  private final RestorableCondition restorable;

  NodeChangeFilter(Cluster cluster, Clock clock, RestorableCondition restorable) {
    this.cluster = cluster;
    this.clock = clock;
    this.restorable = restorable;
  }

  boolean isRelevant(Changed<GpuNode> change) {
    return candidates.isAffected(change, cluster, clock.instant(), NodeChangeFilter::stores);
  }

  private static List<String> stores(GpuNode node) {
    return NodeStores.of(node).list().stream()
        .map(store -> store.name() + "=" + store.writable())
        .toList();
  }

  /** Returns those to reconcile. Checkpoints of the same hardware are judged once. */
  List<GpuCheckpoint> concerned(Collection<GpuCheckpoint> ready) {
    Map<List<Object>, ConditionValue> judged = new HashMap<>();
    return ready.stream().filter(it -> isWrong(it, judged)).toList();
  }

  private boolean isWrong(GpuCheckpoint checkpoint, Map<List<Object>, ConditionValue> judged) {
    GpuCheckpointStatus status = checkpoint.getStatus();
    if (status == null) {
      return true;
    }
    Optional<Condition> known = Conditions.of(status).find(ConditionType.RESTORABLE);
    if (known
        .filter(
            it -> Reason.NOT_PORTABLE.is(it.reason()) || Reason.ARTIFACT_DAMAGED.is(it.reason()))
        .isPresent()) {
      // No node changes that.
      return false;
    }
    List<Object> need =
        List.of(
            Optional.ofNullable(status.getHardware()).map(Hardware::fingerprint),
            Optional.ofNullable(status.getArtifact()).map(it -> it.getNode()));
    ConditionValue actual =
        judged.computeIfAbsent(need, it -> restorable.actual(cluster, status, clock.instant()));
    return known.map(Condition::status).orElse(ConditionValue.UNKNOWN) != actual;
  }
}
