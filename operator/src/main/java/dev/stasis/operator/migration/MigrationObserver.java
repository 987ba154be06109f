package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.node.Capability;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.node.NodeStores;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.owner.Move;
import dev.stasis.operator.pod.JobDeadlines;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.RequestPods;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Observes everything that concerns one GpuMigration. */
@Singleton
class MigrationObserver {

  private final Cluster cluster;
  private final Candidates candidates = new Candidates();
  private final RequestPods pods;
  private final Throttle throttle;
  private final SourceFirstObjects objects;
  private final Volumes volumes;
  private final Validation validation;
  private final StasisConfig config;
  private final Clock clock;
  private final MigrationTargets targets;
  private final Adoption adoption;
  private final KubernetesSerialization serialization;

  MigrationObserver(
      Cluster cluster,
      PodWrites pods,
      Throttle throttle,
      SourceFirstObjects objects,
      MigrationTargets targets,
      Adoption adoption,
      KubernetesClient client,
      StasisConfig config,
      Clock clock) {
    this.cluster = cluster;
    this.pods = new RequestPods(cluster, pods);
    this.throttle = throttle;
    this.objects = objects;
    this.targets = targets;
    this.adoption = adoption;
    this.serialization = client.getKubernetesSerialization();
    this.volumes = new Volumes(client);
    this.validation =
        new Validation(
            cluster, volumes, adoption, new JobDeadlines(client, clock), config.gpuResources());
    this.config = config;
    this.clock = clock;
  }

  /** Observes a migration that has a status. */
  MigrationContext observe(GpuMigration migration) {
    Instant now = clock.instant();
    GpuMigrationStatus status = migration.getStatus();
    Work work =
        new Work(
            cluster.operations(migration.getMetadata().getUid()).stream()
                .map(OperationView::of)
                .toList());
    if (status.getSourceHardware() == null) {
      work.look().ifPresent(look -> status.setSourceHardware(look.status().getHardware()));
    }
    Optional<Pod> source = source(migration);
    boolean open =
        status.getCheckpoint() == null
            && work.freeze().isEmpty()
            && status.getCommitment() == null
            && (status.getPhase() == null || !status.getPhase().isFinal());
    Check check =
        open ? validation.check(migration, source, work.look().isPresent(), now) : new Check.Done();
    Optional<Pod> target = pods.target(migration, status.getTarget());
    Optional<Check.Admitted> placed =
        check instanceof Check.Admitted it && target.isEmpty() && status.getSourceHardware() != null
            ? Optional.of(it)
            : Optional.empty();
    Map<String, String> against = placed.map(it -> against(migration, it)).orElse(Map.of());
    Optional<NodeVerdicts> places =
        placed.map(
            it ->
                new Places(cluster.gpuNodes(), cluster.nodes(), candidates)
                    .verdicts(
                        targets.sought(migration, work, it),
                        migration.getSpec().getTarget(),
                        against,
                        now));
    Optional<String> turn =
        places
            .filter(it -> it.fit() > 0)
            .flatMap(
                it -> throttle.take(migration, placed.orElseThrow().pod().getSpec().getNodeName()));
    return new MigrationContext(
        migration,
        check,
        source,
        target,
        work,
        Optional.ofNullable(status.getSource()).map(ObservedPod::node).map(it -> agent(it, now)),
        target
            .map(pod -> pod.getSpec().getNodeName())
            .or(() -> Optional.ofNullable(status.getTarget()).map(ObservedPod::node))
            .map(it -> agent(it, now)),
        places,
        against.keySet(),
        turn,
        target.flatMap(pod -> owner(migration, pod)),
        sourceFirst(migration, now),
        config.orphanAfter(),
        now);
  }

  private SourceFirstState sourceFirst(GpuMigration migration, Instant now) {
    GpuMigrationStatus status = migration.getStatus();
    return status.getCheckpoint() == null
            || (status.getPhase() != null && status.getPhase().isFinal())
        ? SourceFirstState.NONE
        : seen(migration, now, objects.observe(migration));
  }

  /** Copies the reports of the GpuCheckpoint and the GpuRestore. */
  private static SourceFirstState seen(
      GpuMigration migration, Instant now, SourceFirstState state) {
    boolean rolledBack =
        migration.getStatus().getCommitment() != null
            && migration.getStatus().getCommitment().decision() == Decision.ROLL_BACK;
    if (!rolledBack) {
      new SourceFirstStatusUpdater(migration, now).sees(state);
    }
    return state;
  }

  /** Read after the decision for the target, until it is adopted. */
  private Optional<OwnerReference> owner(GpuMigration migration, Pod target) {
    GpuMigrationStatus status = migration.getStatus();
    boolean switchesOver =
        status.getPhase() != null
            && status.getCheckpoint() == null
            && !status.getPhase().isFinal()
            && status.getCommitment() != null
            && status.getCommitment().decision() == Decision.SWITCH_OVER;
    return switchesOver
        ? Move.source(cluster.operations(migration.getMetadata().getUid()), serialization)
            .flatMap(was -> adoption.open(was, target))
        : Optional.empty();
  }

  /**
   * Returns why nodes are excluded for reasons other than their hardware; the pod's own node always
   * is.
   */
  private Map<String, String> against(GpuMigration migration, Check.Admitted source) {
    Map<String, String> against = new HashMap<>(throttle.full(migration));
    String store = source.store().getMetadata().getName();
    for (GpuNode node : cluster.gpuNodes()) {
      GpuNodeStatus reported = node.getStatus();
      boolean maps =
          reported != null
              && reported.getCapabilities() != null
              && reported.getCapabilities().contains(Capability.UUID_MAP);
      if (!maps) {
        against.put(
            node.getMetadata().getName(),
            "driver: expected one that can restore on other GPUs (580 or newer), got one that"
                + " cannot");
      } else if (!NodeStores.of(node).canWrite(store)) {
        against.put(
            node.getMetadata().getName(),
            "store " + store + ": expected one that the node can write to, got one that it cannot");
      }
    }
    against.putAll(volumes.against(source.pod(), cluster.nodes()));
    Objects.requireNonNullElse(migration.getStatus().getExcludedNodes(), List.<String>of())
        .forEach(
            node ->
                against.put(
                    node, "node: expected one that has not been tried, got an excluded one"));
    Optional.ofNullable(migration.getSpec().getTarget())
        .map(Target::excluded)
        .orElse(List.of())
        .forEach(
            node ->
                against.put(node, "node: expected one that is not excluded, got an excluded one"));
    against.put(
        source.pod().getSpec().getNodeName(),
        "node: expected one other than the pod's own, got its own");
    return against;
  }

  private Optional<Pod> source(GpuMigration migration) {
    String namespace = migration.getMetadata().getNamespace();
    ObservedPod known = migration.getStatus().getSource();
    return known == null
        ? pods.named(namespace, migration.getSpec().podName())
        : pods.known(namespace, known);
  }

  private NodeAgent agent(String node, Instant now) {
    return NodeAgent.of(cluster, node, now);
  }
}
