package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.restore.ExcludedNode;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.workflow.RequestContext;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The observed state of one GpuRestore.
 *
 * @param restore the object, with a status
 * @param source the state of its GpuCheckpoint
 * @param places where it could be restored; empty while the checkpoint does not provide an artifact
 * @param target the pod that was created for the current attempt
 * @param operation of this attempt
 * @param agentAway why the agent of the target's node is unavailable; empty if it is available
 * @param now time of the observation
 */
record RestoreContext(
    GpuRestore restore,
    Source source,
    Optional<NodeVerdicts> places,
    Optional<Pod> target,
    Optional<OperationView> operation,
    Optional<String> agentAway,
    Instant now)
    implements RequestContext<RestorePhase> {

  @Override
  public GpuRestore object() {
    return restore;
  }

  @Override
  public GpuRestoreStatus status() {
    return restore.getStatus();
  }

  RestoreStatusUpdater updater() {
    return new RestoreStatusUpdater(restore, now);
  }

  @Override
  public RestorePhase phase() {
    return CurrentPhase.of(restore);
  }

  @Override
  public @Nullable String operationName() {
    return status().getOperation();
  }

  @Override
  public boolean isCancelRequested() {
    return Boolean.TRUE.equals(restore.getSpec().getOptions().getCancel());
  }

  @Override
  public boolean hasFailed() {
    return !faults().isEmpty();
  }

  /** Returns why the current attempt failed; empty while it has not. */
  List<Fault> faults() {
    return Objects.requireNonNullElse(status().getFaults(), List.of());
  }

  /** Returns the number of targets that were created. */
  int attempts() {
    return Objects.requireNonNullElse(status().getAttempts(), 0);
  }

  /** Returns whether a target was created for this attempt, and perhaps lost since. */
  boolean hasTarget() {
    return target.isPresent() || status().getPod() != null;
  }

  /** Returns the target, which the step that creates it has seen. */
  Pod theTarget() {
    return target.orElseThrow();
  }

  /** Returns the container of the workload; empty while the checkpoint has not reported it. */
  String container() {
    return source instanceof Source.Ready ready ? ready.container() : "";
  }

  /** Returns the end of the attempt of a target that has been ready since then. */
  Instant deadline(Instant ready) {
    return ready.plus(restore.getSpec().getOptions().getDeadline().duration());
  }

  /**
   * Returns the nodes that are not tried, each with the reason.
   *
   * @param withoutVolume the nodes that cannot read the artifact, each with the reason
   */
  static Map<String, String> excludedWithReason(
      GpuRestore restore, Map<String, String> withoutVolume) {
    Map<String, String> excluded = new HashMap<>(withoutVolume);
    excluded(restore)
        .forEach(
            node ->
                excluded.put(
                    node, "node: expected one that has not been tried, got an excluded one"));
    return excluded;
  }

  /** Returns the nodes that are not tried again, and those that the user excludes. */
  static SortedSet<String> excluded(GpuRestore restore) {
    SortedSet<String> nodes = new TreeSet<>();
    Optional.ofNullable(restore.getSpec().getTarget())
        .map(Target::excluded)
        .ifPresent(nodes::addAll);
    Objects.requireNonNullElse(restore.getStatus().getExcludedNodes(), List.<ExcludedNode>of())
        .forEach(excluded -> nodes.add(excluded.node()));
    return nodes;
  }
}
