package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.PhaseTime;
import dev.stasis.api.v1alpha1.restore.ExcludedNode;
import dev.stasis.api.v1alpha1.restore.GpuRestoreStatus;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * All that is seen in one look at one GpuRestore.
 *
 * @param restore the object, with a status
 * @param source what its GpuCheckpoint gives
 * @param places where it could be restored; empty while the source gives nothing
 * @param target the pod that was made for it and is not of an earlier attempt
 * @param operation of this attempt
 * @param agentAway what stands against the agent of the target's node; empty: nothing
 * @param now when it was looked
 */
record View(
    GpuRestore restore,
    Source source,
    Optional<NodeVerdicts> places,
    Optional<Pod> target,
    Optional<OperationView> operation,
    Optional<String> agentAway,
    Instant now) {

  GpuRestoreStatus status() {
    return restore.getStatus();
  }

  RestorePhase phase() {
    return Objects.requireNonNullElse(status().getPhase(), RestorePhase.PENDING);
  }

  /** When the phase was entered in which it is; that of its creation before the first. */
  Instant entered() {
    List<PhaseTime<RestorePhase>> phases =
        Objects.requireNonNullElse(status().getPhases(), List.of());
    return phases.isEmpty()
        ? Instant.parse(restore.getMetadata().getCreationTimestamp())
        : phases.get(phases.size() - 1).time();
  }

  /** How many targets were made. */
  int attempts() {
    return Objects.requireNonNullElse(status().getAttempts(), 0);
  }

  /** Why the target in hand came to nothing; none: it did not. */
  List<Fault> faults() {
    return Objects.requireNonNullElse(status().getFaults(), List.of());
  }

  /** Whether its user wants it undone; deleting it while it is at work means that too. */
  boolean isCancelled() {
    return Boolean.TRUE.equals(restore.getSpec().getCancel())
        || restore.getMetadata().getDeletionTimestamp() != null;
  }

  /** Whether a pod waits for a workload; one that starts from its image does not. */
  static boolean isTarget(Pod pod) {
    return pod.getSpec().getReadinessGates().stream()
        .anyMatch(gate -> gate.getConditionType().equals(Api.RESTORED_GATE));
  }

  /** The same, with what stands against each. */
  static Map<String, String> excludedWithWhy(GpuRestore restore) {
    return excluded(restore).stream()
        .collect(
            Collectors.toMap(
                node -> node, node -> "node: wanted one that was not tried, found it excluded"));
  }

  /** Nodes that are not tried again, and the one that the pod is to leave. */
  static SortedSet<String> excluded(GpuRestore restore) {
    SortedSet<String> nodes = new TreeSet<>();
    Optional.ofNullable(restore.getMetadata().getAnnotations())
        .map(annotations -> annotations.get(Api.NOT_ON_ANNOTATION))
        .ifPresent(nodes::add);
    Objects.requireNonNullElse(restore.getStatus().getExcludedNodes(), List.<ExcludedNode>of())
        .forEach(excluded -> nodes.add(excluded.node()));
    return nodes;
  }
}
