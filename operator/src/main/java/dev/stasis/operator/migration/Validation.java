package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.liveness.Liveness;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.PodInUse;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.pod.JobDeadlines;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.SourcePod;
import dev.stasis.operator.status.CurrentPhase;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.SharedStores;
import dev.stasis.operator.store.StoreChoice;
import dev.stasis.operator.store.StoreFacts;
import dev.stasis.operator.store.StoreRoom;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks everything that can be known before an agent is asked. Changes nothing. */
final class Validation {

  private final Cluster cluster;
  private final Volumes volumes;
  private final Adoption adoption;
  private final JobDeadlines jobs;
  private final List<String> gpuResources;
  private final StoreChoice choice = new StoreChoice();
  private final StoreRoom room = new StoreRoom();
  private final SharedStores shared = new SharedStores();

  Validation(
      Cluster cluster,
      Volumes volumes,
      Adoption adoption,
      JobDeadlines jobs,
      List<String> gpuResources) {
    this.jobs = jobs;
    this.adoption = adoption;
    this.cluster = cluster;
    this.volumes = volumes;
    this.gpuResources = List.copyOf(gpuResources);
  }

  /**
   * Checks the migration.
   *
   * @param found the pod with that name
   * @param begun whether it was checked before, so that volumes need no second check
   */
  Check check(GpuMigration migration, Optional<Pod> found, boolean begun, Instant now) {
    GpuMigrationSpec spec = migration.getSpec();
    String namespace = migration.getMetadata().getNamespace();
    SourcePod named =
        SourcePod.check(
            found,
            new SourcePod.Named(
                namespace, spec.podName(), spec.podUid(), spec.getOptions().getContainerName()),
            gpuResources);
    if (named instanceof SourcePod.Refused refused) {
      return new Check.Refused(refused.faults());
    }
    SourcePod.Found source = (SourcePod.Found) named;
    Pod pod = source.pod();
    String uid = pod.getMetadata().getUid();
    String node = pod.getSpec().getNodeName();
    List<Fault> faults = new ArrayList<>();
    asked(spec, source, node, faults);
    if (!begun) {
      faults.addAll(volumes.against(pod, spec.getStrategy()));
    }
    earlier(migration, uid).ifPresent(faults::add);
    LivenessVerdict liveness = liveness(spec, pod, source.container(), now);
    if (liveness instanceof LivenessVerdict.TooShort tooShort) {
      faults.addAll(tooShort.faults());
    }
    Optional<GpuCheckpointStore> store = store(spec, namespace, node, faults);
    if (!faults.isEmpty() || store.isEmpty()) {
      return new Check.Refused(faults);
    }
    Optional<Check.Wait> waits = waits(migration, pod, store.get(), node, now);
    if (waits.isPresent()) {
      return waits.get();
    }
    faults.addAll(room.against(facts(store.get(), node), namespace, node, 0));
    if (!faults.isEmpty()) {
      return new Check.Refused(faults);
    }
    Optional<Duration> maxFrozen =
        liveness instanceof LivenessVerdict.Fits fits ? fits.maxFrozen() : Optional.empty();
    String namespaceUid =
        cluster
            .namespace(pod.getMetadata().getNamespace())
            .map(it -> it.getMetadata().getUid())
            .orElse(null);
    return new Check.Admitted(pod, source.container(), store.get(), maxFrozen, namespaceUid);
  }

  private void asked(
      GpuMigrationSpec spec, SourcePod.Found source, String node, List<Fault> faults) {
    Target target = spec.getTarget();
    if (target != null && node.equals(target.nodeName())) {
      faults.add(
          Reason.PREFLIGHT_REFUSED.misfit(
              "target.nodeName", "another node than the pod's own", node));
    }
    source.controller().flatMap(owner -> owned(spec, owner)).ifPresent(faults::add);
    source.refusedContainers(spec.getOptions().getSidecarPolicy()).ifPresent(faults::add);
  }

  /** The behavior of its controller. */
  private Optional<Fault> owned(GpuMigrationSpec spec, OwnerReference owner) {
    if (spec.getStrategy() == MigrationStrategy.RECREATE) {
      return Owners.canHandOver(owner)
          ? Optional.empty()
          : Optional.of(
              Reason.OWNED_POD.misfit(
                  "ownerReferences",
                  "a pod without a controller, or of a ReplicaSet, Job or StatefulSet",
                  "one of " + owner.getKind() + " " + owner.getName()));
    }
    return adoption
        .refusal(owner)
        .map(
            found ->
                Reason.OWNED_POD.misfit(
                    "ownerReferences",
                    "a pod without a controller, or of a ReplicaSet or Job, which adopts the"
                        + " target",
                    Owners.canHandOver(owner) && !Owners.canAdopt(owner)
                        ? found + ": its target has the same name, so set strategy: Recreate"
                        : found));
  }

  /** Two migrations cannot move one pod. */
  private Optional<Fault> earlier(GpuMigration migration, String podUid) {
    Precedence order = new Precedence();
    return cluster.migrations().stream()
        .filter(other -> !other.getMetadata().getUid().equals(migration.getMetadata().getUid()))
        .filter(other -> moves(other, migration, podUid))
        .filter(other -> order.compare(other, migration) < 0)
        .findFirst()
        .map(
            other ->
                Reason.ANOTHER_OPERATION.misfit(
                    "podRef.name",
                    "a pod that no other request migrates",
                    migration.getSpec().podName()
                        + ", which GpuMigration "
                        + other.getMetadata().getName()
                        + " moves"));
  }

  private static boolean moves(GpuMigration other, GpuMigration migration, String podUid) {
    if (CurrentPhase.of(other).isFinal()) {
      return false;
    }
    if (other.getStatus() != null && other.getStatus().getSource() != null) {
      return podUid.equals(other.getStatus().getSource().uid());
    }
    return other.getMetadata().getNamespace().equals(migration.getMetadata().getNamespace())
        && other.getSpec().podName().equals(migration.getSpec().podName());
  }

  private LivenessVerdict liveness(GpuMigrationSpec spec, Pod pod, String container, Instant now) {
    // Only the agent can determine the duration; it compares that with the limit.
    return new Liveness(Clock.fixed(now, ZoneOffset.UTC))
        .judge(
            new Liveness.Question(
                pod,
                container,
                Duration.ZERO,
                false,
                spec.getOptions().getProbePolicy(),
                jobs.of(pod)));
  }

  private Optional<GpuCheckpointStore> store(
      GpuMigrationSpec spec, String namespace, String node, List<Fault> faults) {
    Namespace known = cluster.namespaceOrName(namespace);
    StoreChoice.Choice chosen = choice.choose(spec.storeName(), known, cluster.stores());
    if (chosen instanceof StoreChoice.Refused refusal) {
      faults.add(refusal.fault());
    }
    Optional<GpuCheckpointStore> store =
        chosen instanceof StoreChoice.Chosen it ? Optional.of(it.store()) : Optional.empty();
    boolean reached =
        spec.getStrategy() == MigrationStrategy.LIVE || store.map(shared::is).orElse(true);
    if (reached) {
      return store;
    }
    // The source is gone when the target is created: only shared volumes can be read there.
    Optional<GpuCheckpointStore> other =
        spec.storeName() == null
            ? shared.first(cluster.stores(), known, cluster.gpuNode(node))
            : Optional.empty();
    if (other.isEmpty()) {
      faults.add(
          Reason.STORE_NOT_SHARED.misfit(
              "store",
              "a sharedPath with layout Files, which both nodes read; strategy: Recreate restores"
                  + " the pod from it",
              store.get().getMetadata().getName() + "; set spec.storageRef"));
    }
    return other;
  }

  private StoreFacts facts(GpuCheckpointStore store, String node) {
    return StoreFacts.of(
        store,
        cluster.gpuNode(node).map(List::of).orElse(List.of()),
        cluster.checkpointsIn(store.getMetadata().getName()));
  }

  private Optional<Check.Wait> waits(
      GpuMigration migration, Pod pod, GpuCheckpointStore store, String node, Instant now) {
    NodeAgent agent = NodeAgent.of(cluster, node, now);
    if (agent.against().isPresent()) {
      return Optional.of(
          new Check.Wait(
              agent.silent().isPresent() ? Reason.NODE_SILENT : Reason.WAITING_FOR_AGENT,
              agent.against().get()));
    }
    Optional<String> inUse = new PodInUse(cluster).byAnother(pod, migration.getMetadata().getUid());
    if (inUse.isPresent()) {
      return Optional.of(new Check.Wait(Reason.ANOTHER_OPERATION, inUse.get()));
    }
    return facts(store, node)
        .unseen(node)
        .map(why -> new Check.Wait(Reason.STORE_NOT_WRITABLE, why));
  }
}
