package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Pods of unresponsive nodes. Such a pod may still run, so it counts as lost only when its node was
 * deleted, is tainted as out of service, or exceeded {@code fenceAfter}.
 */
final class LostNodes {

  private static final String OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

  /** A kubelet that responds again ends deleted pods within seconds; this is ample. */
  private static final Duration SETTLED = Duration.ofMinutes(1);

  private final Cluster cluster;

  LostNodes(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Returns the failure of a pod whose node has not responded for {@code fenceAfter}. */
  Optional<PodFailure> of(Pod pod, RestoreOnFailure policy, Instant now) {
    TimeSpan fence = policy.getFenceAfter();
    String name = pod.getSpec().getNodeName();
    if (fence == null || name == null) {
      return Optional.empty();
    }
    return cluster
        .node(name)
        .flatMap(LostNodes::ready)
        .filter(ready -> !"True".equals(ready.getStatus()))
        .map(ready -> Instant.parse(ready.getLastTransitionTime()))
        .filter(since -> !since.plus(fence.duration()).isAfter(now))
        .map(
            since ->
                new PodFailure(
                    pod,
                    since,
                    Reason.NODE_LOST,
                    "node %s has been unavailable since %s, longer than fenceAfter %s"
                        .formatted(name, since, fence)));
  }

  /**
   * Returns why a deleted pod of that node may still run; empty if it cannot.
   *
   * @param unseen whether its kubelet may have missed the deletion
   */
  Optional<String> mayStillRun(String nodeName, boolean unseen, Instant now) {
    Optional<Node> node = cluster.node(nodeName);
    if (node.isEmpty() || isOutOfService(node.get())) {
      return Optional.empty();
    }
    Optional<NodeCondition> ready = ready(node.get());
    boolean responds = ready.filter(it -> "True".equals(it.getStatus())).isPresent();
    if (!responds) {
      return Optional.of(
          ("node %s: expected Ready, deleted or tainted %s, got not ready: a copy may still run"
                  + " there")
              .formatted(nodeName, OUT_OF_SERVICE));
    }
    Instant since = Instant.parse(ready.orElseThrow().getLastTransitionTime());
    return unseen && since.plus(SETTLED).isAfter(now)
        ? Optional.of(
            "node %s has been available again since %s and ends deleted pods"
                .formatted(nodeName, since))
        : Optional.empty();
  }

  private static boolean isOutOfService(Node node) {
    return Objects.requireNonNullElse(node.getSpec().getTaints(), List.<Taint>of()).stream()
        .anyMatch(taint -> OUT_OF_SERVICE.equals(taint.getKey()));
  }

  private static Optional<NodeCondition> ready(Node node) {
    return node.getStatus() == null
        ? Optional.empty()
        : node.getStatus().getConditions().stream()
            .filter(condition -> "Ready".equals(condition.getType()))
            .findFirst();
  }
}
