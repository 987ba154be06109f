package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.common.OtherContainers;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.migration.GpuMigrationSpec;
import dev.stasis.api.v1alpha1.migration.MigrationOrder;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.liveness.Liveness;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodCheck;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.store.SharedStores;
import dev.stasis.operator.store.StoreChoice;
import dev.stasis.operator.store.StoreFacts;
import dev.stasis.operator.store.StoreRoom;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks at everything that can be known before an agent is asked. Nothing is touched. */
final class Validation {

  private final Cluster cluster;
  private final Volumes volumes;
  private final Adoption adoption;
  private final List<String> gpuResources;
  private final StoreChoice choice = new StoreChoice();
  private final StoreRoom room = new StoreRoom();
  private final SharedStores shared = new SharedStores();

  Validation(Cluster cluster, Volumes volumes, Adoption adoption, List<String> gpuResources) {
    this.adoption = adoption;
    this.cluster = cluster;
    this.volumes = volumes;
    this.gpuResources = List.copyOf(gpuResources);
  }

  /**
   * Looks.
   *
   * @param found the pod of that name
   * @param begun whether it was looked at before, and volumes need no second look
   */
  Check check(GpuMigration migration, Optional<Pod> found, boolean begun, Instant now) {
    GpuMigrationSpec spec = migration.getSpec();
    String namespace = migration.getMetadata().getNamespace();
    if (found.isEmpty()) {
      return refused(
          Reason.POD_NOT_FOUND,
          "podName",
          spec.getPodName() + " in namespace " + namespace,
          "no such pod");
    }
    Pod pod = found.get();
    String uid = pod.getMetadata().getUid();
    if (spec.getPodUid() != null && !spec.getPodUid().equals(uid)) {
      return refused(Reason.POD_CHANGED, "podUid", spec.getPodUid(), uid);
    }
    PodCheck check = new PodCheck(pod, gpuResources);
    List<Fault> faults = new ArrayList<>();
    check.notRunning().ifPresent(faults::add);
    PodCheck.Found container = check.container(Optional.ofNullable(spec.getContainerName()));
    if (container instanceof PodCheck.None none) {
      faults.add(none.fault());
    }
    if (!faults.isEmpty() || !(container instanceof PodCheck.One one)) {
      return new Check.Refused(faults);
    }
    String node = pod.getSpec().getNodeName();
    asked(spec, check, one.container(), node, faults);
    if (!begun) {
      faults.addAll(volumes.against(pod, spec.getOrder()));
    }
    earlier(migration, uid).ifPresent(faults::add);
    LivenessVerdict liveness = liveness(spec, pod, one.container(), now);
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
    return new Check.Admitted(pod, one.container(), store.get(), maxFrozen, namespaceUid);
  }

  private void asked(
      GpuMigrationSpec spec, PodCheck check, String container, String node, List<Fault> faults) {
    Target target = spec.getTarget();
    if (target != null && node.equals(target.nodeName())) {
      faults.add(
          misfit(
              Reason.PREFLIGHT_REFUSED,
              "target.nodeName",
              "another node than the pod's own",
              node));
    }
    check.controller().flatMap(owner -> owned(spec, owner)).ifPresent(faults::add);
    List<String> others = check.others(container);
    if (!others.isEmpty() && spec.getOtherContainers() == OtherContainers.REFUSE) {
      faults.add(
          misfit(
              Reason.OTHER_CONTAINERS,
              "otherContainers",
              "StartAnew, or a pod with one container",
              "Refuse, and containers " + others + " beside it"));
    }
  }

  /** What its controller would do. */
  private Optional<Fault> owned(GpuMigrationSpec spec, OwnerReference owner) {
    if (spec.getOrder() == MigrationOrder.SOURCE_FIRST) {
      return Owners.canHandOver(owner)
          ? Optional.empty()
          : Optional.of(
              misfit(
                  Reason.OWNED_POD,
                  "ownerReferences",
                  "a pod without a controller, or of a ReplicaSet, Job or StatefulSet",
                  "one of " + owner.getKind() + " " + owner.getName()));
    }
    return adoption
        .refusal(owner)
        .map(
            found ->
                misfit(
                    Reason.OWNED_POD,
                    "ownerReferences",
                    "a pod without a controller, or of a ReplicaSet or Job, which takes the"
                        + " target in its place",
                    Owners.canHandOver(owner) && !Owners.canAdopt(owner)
                        ? found + ": its target has the same name, so set order: SourceFirst"
                        : found));
  }

  /** Two cannot move one pod. */
  private Optional<Fault> earlier(GpuMigration migration, String podUid) {
    Precedence order = new Precedence();
    return cluster.migrations().stream()
        .filter(other -> !other.getMetadata().getUid().equals(migration.getMetadata().getUid()))
        .filter(other -> moves(other, migration, podUid))
        .filter(other -> order.compare(other, migration) < 0)
        .findFirst()
        .map(
            other ->
                misfit(
                    Reason.ANOTHER_OPERATION,
                    "podName",
                    "a pod that nothing else moves",
                    migration.getSpec().getPodName()
                        + ", which GpuMigration "
                        + other.getMetadata().getName()
                        + " moves"));
  }

  private static boolean moves(GpuMigration other, GpuMigration migration, String podUid) {
    if (other.getStatus() != null
        && other.getStatus().getPhase() != null
        && other.getStatus().getPhase().isFinal()) {
      return false;
    }
    if (other.getStatus() != null && other.getStatus().getSource() != null) {
      return podUid.equals(other.getStatus().getSource().uid());
    }
    return other.getMetadata().getNamespace().equals(migration.getMetadata().getNamespace())
        && other.getSpec().getPodName().equals(migration.getSpec().getPodName());
  }

  private LivenessVerdict liveness(GpuMigrationSpec spec, Pod pod, String container, Instant now) {
    // How long it will take only the agent can say; it compares that with what is allowed.
    return new Liveness(Clock.fixed(now, ZoneOffset.UTC))
        .judge(
            new Liveness.Question(
                pod,
                container,
                Duration.ZERO,
                false,
                spec.getLivenessPolicy(),
                adoption.deadline(pod)));
  }

  private Optional<GpuCheckpointStore> store(
      GpuMigrationSpec spec, String namespace, String node, List<Fault> faults) {
    Namespace known =
        cluster
            .namespace(namespace)
            .orElseGet(
                () ->
                    new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build());
    StoreChoice.Choice chosen = choice.choose(spec.getStore(), known, cluster.stores());
    if (chosen instanceof StoreChoice.Refused refusal) {
      faults.add(refusal.fault());
    }
    Optional<GpuCheckpointStore> store =
        chosen instanceof StoreChoice.Chosen it ? Optional.of(it.store()) : Optional.empty();
    boolean reached =
        spec.getOrder() == MigrationOrder.TARGET_FIRST || store.map(shared::is).orElse(true);
    if (reached) {
      return store;
    }
    // The source is gone when the target comes: only what lies elsewhere can be read there.
    Optional<GpuCheckpointStore> other =
        spec.getStore() == null
            ? shared.first(cluster.stores(), known, cluster.gpuNode(node))
            : Optional.empty();
    if (other.isEmpty()) {
      faults.add(
          misfit(
              Reason.STORE_NOT_SHARED,
              "store",
              "one that both nodes reach, a sharedPath, which order: SourceFirst brings the pod"
                  + " back from",
              store.get().getMetadata().getName() + ", a disk of its node; set spec.store"));
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
    AgentState agent =
        AgentState.of(node, cluster.node(node).isEmpty(), cluster.gpuNode(node), now);
    if (agent.against().isPresent()) {
      return Optional.of(
          new Check.Wait(
              agent.silent().isPresent() ? Reason.NODE_SILENT : Reason.WAITING_FOR_AGENT,
              agent.against().get()));
    }
    Optional<ObjectReference> other =
        cluster.operationsOn(pod.getMetadata().getUid()).stream()
            .map(OperationView::of)
            .filter(
                view ->
                    !view.isFinal()
                        || view.workload() == WorkloadState.SUSPENDED
                        || view.isLeftFrozen())
            .map(view -> view.operation().getSpec().getRequester())
            .filter(requester -> !requester.uid().equals(migration.getMetadata().getUid()))
            .findFirst();
    if (other.isPresent()) {
      return Optional.of(
          new Check.Wait(
              Reason.ANOTHER_OPERATION,
              "pod %s: wanted one that nobody works on, found it in the hands of %s %s"
                  .formatted(pod.getMetadata().getName(), other.get().kind(), other.get().name())));
    }
    // An agent sees a new store a moment later.
    return facts(store, node).from(node).isPresent()
        ? Optional.empty()
        : Optional.of(
            new Check.Wait(
                Reason.STORE_NOT_WRITABLE,
                "store %s: wanted one that node %s can write to, found nothing said of it yet"
                    .formatted(store.getMetadata().getName(), node)));
  }

  private static Check.Refused refused(
      Reason reason, String property, String wanted, String found) {
    return new Check.Refused(List.of(misfit(reason, property, wanted, found)));
  }

  private static Fault misfit(Reason reason, String property, String wanted, String found) {
    return Fault.misfit(reason.word(), property, wanted, found);
  }
}
