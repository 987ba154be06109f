package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.common.Target;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.compat.Fingerprint;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.holder.Sought;
import dev.stasis.operator.holder.TargetPods;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.node.NodeAgent;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.TargetRoom;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.target.FrozenPod;
import dev.stasis.operator.target.TargetMaker;
import dev.stasis.operator.target.TargetPlan;
import dev.stasis.operator.target.Way;
import dev.stasis.operator.target.Wish;
import dev.stasis.operator.workflow.Progress;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Creates, replaces and deletes the targets of GpuMigrations. */
@Singleton
class MigrationTargets {

  /** Maximum targets of one migration: after a failure caused by its node, another one is tried. */
  static final int ATTEMPTS = 3;

  private final Cluster cluster;
  private final Candidates candidates = new Candidates();
  private final TargetPods pods;
  private final Adoption adoption;
  private final Orders orders;
  private final TargetMaker maker;
  private final TargetRoom room = new TargetRoom();

  MigrationTargets(
      Cluster cluster,
      TargetPods pods,
      Adoption adoption,
      KubernetesClient client,
      StasisConfig config) {
    this.adoption = adoption;
    this.cluster = cluster;
    this.pods = pods;
    this.orders = new Orders(new Template(client.getKubernetesSerialization()));
    this.maker = new TargetMaker(config.holder());
  }

  /** The requirements of the source, as its agent reported them. */
  Sought sought(GpuMigration migration, Work work, Check.Admitted source) {
    Pod now = source.pod();
    Hardware hardware =
        Objects.requireNonNull(migration.getStatus().getSourceHardware(), "it was inspected");
    return new Sought(
        Fingerprint.parse(Objects.requireNonNullElse(hardware.fingerprint(), "")),
        work.look().map(OperationView::status).map(GpuNodeOperationStatus::getImage).orElse(""),
        orders.original(work, now),
        source.container(),
        Objects.requireNonNullElse(now.getSpec().getNodeName(), ""),
        null);
  }

  /** Creates the target of the next attempt; an existing one is used. */
  TargetPods.Result create(MigrationContext view, Check.Admitted source) {
    GpuMigration migration = view.migration();
    return pods.existing(migration, pod -> true)
        .<TargetPods.Result>map(TargetPods.Created::new)
        .orElseGet(
            () ->
                pods.create(
                    migration.getMetadata().getNamespace(),
                    taken -> plan(view, source, taken),
                    refusal -> Reason.NO_NODE_FITS.is(refusal.reason())));
  }

  private TargetPlan plan(MigrationContext view, Check.Admitted source, Set<String> taken) {
    return maker.make(frozen(view, source), wish(view, source, taken));
  }

  void remove(Pod pod) {
    pods.remove(pod);
  }

  /**
   * Returns the consequence of a target's faults while the source is untouched: another target
   * costs nothing.
   *
   * @param reasons reasons that another target may not have
   * @param excludesNode whether another node is required
   */
  Progress retry(
      MigrationContext context, List<Fault> faults, Set<String> reasons, boolean excludesNode) {
    boolean retried =
        context.attempts() < ATTEMPTS
            && faults.stream().allMatch(fault -> reasons.contains(fault.reason()));
    return retried
        ? Progress.Due.of(
            () -> {
              context.target().ifPresent(this::remove);
              context.updater().another(faults, excludesNode);
            })
        : new Progress.Failed(faults);
  }

  /**
   * Deletes the target of a migration that is rolled back, until nothing can run in it. A target
   * without a restore, or with one whose report says that it left nothing there, does not run; any
   * other must be seen to be gone.
   */
  Progress untilNothingRuns(MigrationContext context) {
    if (context.target().isEmpty()) {
      return new Progress.Done();
    }
    Pod target = context.target().get();
    if (target.getMetadata().getDeletionTimestamp() == null) {
      return Progress.Due.of(() -> remove(target));
    }
    boolean mayRun =
        context.work().all().stream()
            .filter(it -> it.type() == OperationType.RESTORE && !Work.isFit(it))
            .anyMatch(it -> it.isClaimed() && !leftNothing(it));
    return mayRun ? going(target) : new Progress.Done();
  }

  private static boolean leftNothing(OperationView restore) {
    if (!restore.isFinal() || restore.succeeded()) {
      return false;
    }
    boolean isEmpty =
        restore.workload() == WorkloadState.ENDED || restore.workload() == WorkloadState.WAITING;
    return switch (restore.outcome().orElse(Outcome.NOT_UNDONE)) {
      // Some checks fail before the agent has looked into the target.
      case REFUSED -> isEmpty || restore.status().getWorkload() == null;
      case UNDONE -> isEmpty;
      case DONE, NOT_UNDONE, LOST, UNRECOGNIZED -> false;
    };
  }

  /** Retries the deletion until it is gone; does not wait for an unavailable agent. */
  Progress untilGone(MigrationContext context) {
    Progress runs = untilNothingRuns(context);
    boolean gone =
        context.target().isEmpty() || context.targetAgent().map(NodeAgent::isAway).orElse(false);
    return !(runs instanceof Progress.Done) || gone ? runs : going(context.target().get());
  }

  private static Progress going(Pod target) {
    return new Progress.Waiting(
        Reason.IN_PROGRESS, "pod " + target.getMetadata().getName() + " is being removed");
  }

  private FrozenPod frozen(MigrationContext view, Check.Admitted source) {
    return new Places(cluster.gpuNodes(), cluster.nodes(), candidates)
        .frozen(
            sought(view.migration(), view.work(), source),
            view.migration().getMetadata().getName(),
            null,
            new PodState(source.pod()).workloadStart(source.container()).orElse(null),
            view.work().look().map(look -> look.status().getArgv()).orElse(List.of()),
            view.migration().getSpec().getOptions().getSidecarPolicy(),
            view.now());
  }

  private Wish wish(MigrationContext view, Check.Admitted source, Set<String> taken) {
    GpuMigration migration = view.migration();
    return new Wish(
        migration.getMetadata().getNamespace() + "/" + migration.getMetadata().getName(),
        migration.getMetadata().getUid(),
        view.attempts() + 1,
        Objects.requireNonNullElse(migration.getSpec().getTarget(), Target.ANYWHERE),
        way(source.pod()),
        taken,
        new TreeSet<>(view.excludedNodes()),
        migration.getSpec().getOptions().getDeadline().duration(),
        raised(view, source.pod(), source.container()));
  }

  /** Its controller would adopt it immediately, and delete one of the two. */
  private Way way(Pod source) {
    return Owners.of(source)
        .<Way>map(
            owner ->
                new Way.Apart(adoption.selectorKeys(source.getMetadata().getNamespace(), owner)))
        .orElseGet(() -> new Way.Alone(false));
  }

  /** The additional memory of a target compared with the source; empty if none. */
  Optional<RoomPlan.Memory> raised(MigrationContext view, Pod now, String container) {
    Long needed =
        view.work()
            .look()
            .map(OperationView::status)
            .map(GpuNodeOperationStatus::getRoom)
            .map(Room::neededBytes)
            .orElse(null);
    return needed == null
        ? Optional.empty()
        : room.raised(orders.original(view.work(), now), container, needed);
  }
}
