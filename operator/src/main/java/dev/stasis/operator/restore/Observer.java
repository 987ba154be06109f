package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.ObservedPod;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.node.AgentLife;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.PodWrites;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;

/** Looks at everything that concerns one GpuRestore. */
@Singleton
class Observer {

  private final Cluster cluster;
  private final PodWrites pods;
  private final SourceReader sources;
  private final AgentLife agents = new AgentLife();
  private final Clock clock;

  Observer(Cluster cluster, PodWrites pods, KubernetesClient client, Clock clock) {
    this.cluster = cluster;
    this.pods = pods;
    this.sources = new SourceReader(client.getKubernetesSerialization());
    this.clock = clock;
  }

  /** Looks; the object has a status. */
  View look(GpuRestore restore) {
    Instant now = clock.instant();
    String namespace = restore.getMetadata().getNamespace();
    Source source =
        sources.read(restore, cluster.checkpoint(namespace, restore.getSpec().getCheckpointName()));
    Optional<NodeVerdicts> places =
        source instanceof Source.Ready ready
            ? Optional.of(
                new Places(cluster.gpuNodes(), cluster.nodes())
                    .verdicts(
                        ready.sought(),
                        restore.getSpec().getTarget(),
                        View.excludedWithWhy(restore),
                        now))
            : Optional.empty();
    Optional<Pod> target = target(restore);
    Optional<OperationView> operation = operation(restore);
    return new View(
        restore,
        source,
        places,
        target,
        operation,
        // With its node a target goes, too; its agent is still the one that is to undo it.
        target
            .map(pod -> pod.getSpec().getNodeName())
            .or(() -> operation.map(it -> it.operation().getSpec().getNodeName()))
            .flatMap(node -> agentAway(node, now)),
        now);
  }

  /** Every operation that was ever ordered for it and not forgotten. */
  Iterable<OperationView> operations(GpuRestore restore) {
    return cluster.operations(restore.getMetadata().getUid()).stream()
        .map(OperationView::of)
        .toList();
  }

  private Optional<Pod> target(GpuRestore restore) {
    String namespace = restore.getMetadata().getNamespace();
    ObservedPod known = restore.getStatus().getPod();
    if (known != null) {
      // What was made a moment ago, the watch may not have seen.
      return cluster
          .pod(namespace, known.name())
          .filter(pod -> is(pod, known))
          .or(() -> pods.fresh(namespace, known.name()).filter(pod -> is(pod, known)));
    }
    String uid = restore.getMetadata().getUid();
    return cluster.pods(namespace).stream()
        .filter(pod -> pod.getMetadata().getLabels() != null)
        .filter(pod -> uid.equals(pod.getMetadata().getLabels().get(Api.OPERATION_UID_LABEL)))
        .filter(View::isTarget)
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .findFirst();
  }

  private static boolean is(Pod pod, ObservedPod known) {
    return pod.getMetadata().getUid().equals(known.uid());
  }

  private Optional<OperationView> operation(GpuRestore restore) {
    Integer attempt = restore.getStatus().getAttempts();
    if (attempt == null || restore.getStatus().getPod() == null) {
      return Optional.empty();
    }
    String uid = restore.getMetadata().getUid();
    String name =
        new OperationName(RequesterKind.RESTORE, uid, OperationType.RESTORE, attempt).text();
    return cluster.operations(uid).stream()
        .filter(operation -> operation.getMetadata().getName().equals(name))
        .findFirst()
        .map(OperationView::of);
  }

  private Optional<String> agentAway(String node, Instant now) {
    return cluster
        .gpuNode(node)
        .map(gpuNode -> agents.silent(gpuNode, now))
        .orElse(Optional.of("agent: wanted one on node " + node + ", found none"));
  }
}
