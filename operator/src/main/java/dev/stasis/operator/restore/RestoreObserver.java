package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.RequestPods;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.store.VolumeNodes;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;

/** Observes everything that concerns one GpuRestore. */
@Singleton
class RestoreObserver {

  private final Cluster cluster;
  private final Candidates candidates = new Candidates();
  private final RequestPods pods;
  private final SourceReader sources;
  private final VolumeNodes volumes;
  private final Clock clock;

  RestoreObserver(Cluster cluster, PodWrites pods, KubernetesClient client, Clock clock) {
    this.cluster = cluster;
    this.pods = new RequestPods(cluster, pods);
    this.volumes = new VolumeNodes(cluster);
    this.sources = new SourceReader(client.getKubernetesSerialization());
    this.clock = clock;
  }

  /** Observes it; the object has a status. */
  RestoreContext observe(GpuRestore restore) {
    Instant now = clock.instant();
    String namespace = restore.getMetadata().getNamespace();
    Source source =
        sources.read(restore, cluster.checkpoint(namespace, restore.getSpec().checkpointName()));
    Optional<NodeVerdicts> places =
        // A finished restore needs no node.
        source instanceof Source.Ready ready && !CurrentPhase.of(restore).isFinal()
            ? Optional.of(
                new Places(cluster.gpuNodes(), cluster.nodes(), candidates)
                    .verdicts(
                        ready.sought(),
                        restore.getSpec().getTarget(),
                        RestoreContext.excludedWithReason(
                            restore, volumes.without(ready.artifact())),
                        now))
            : Optional.empty();
    Optional<Pod> target = pods.target(restore, restore.getStatus().getPod());
    Optional<OperationView> operation = operation(restore);
    return new RestoreContext(
        restore,
        source,
        places,
        target,
        operation,
        // A target disappears with its node, but its agent must still undo the work.
        target
            .map(pod -> pod.getSpec().getNodeName())
            .or(() -> operation.map(OperationView::node))
            .flatMap(node -> agentAway(node, now)),
        now);
  }

  private Optional<OperationView> operation(GpuRestore restore) {
    Integer attempt = restore.getStatus().getAttempts();
    if (attempt == null || restore.getStatus().getPod() == null) {
      return Optional.empty();
    }
    return new OperationName(
            RequesterKind.RESTORE, restore.getMetadata().getUid(), OperationType.RESTORE, attempt)
        .in(cluster);
  }

  private Optional<String> agentAway(String node, Instant now) {
    return NodeAgent.of(cluster, node, now).silent();
  }
}
