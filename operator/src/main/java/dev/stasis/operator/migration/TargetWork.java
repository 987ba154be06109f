package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuMigration;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.Room;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.compat.Fingerprint;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.holder.Sought;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.owner.Adoption;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.TargetRoom;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.target.FrozenPod;
import dev.stasis.operator.target.Refusal;
import dev.stasis.operator.target.TargetMaker;
import dev.stasis.operator.target.TargetPlan;
import dev.stasis.operator.target.TargetSettings;
import dev.stasis.operator.target.Way;
import dev.stasis.operator.target.Wish;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import jakarta.inject.Singleton;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Makes targets. */
@Singleton
class TargetWork {

  /** A name can be taken between the look and the creation, but not for ever. */
  private static final int NAMES = 5;

  private static final Target ANYWHERE = new Target(null, null, null, null);

  private final Cluster cluster;
  private final Targets targets;
  private final Adoption adoption;
  private final Orders orders;
  private final TargetMaker maker;
  private final TargetRoom room = new TargetRoom();

  TargetWork(
      Cluster cluster,
      Targets targets,
      Adoption adoption,
      KubernetesClient client,
      StasisConfig config) {
    this.adoption = adoption;
    this.cluster = cluster;
    this.targets = targets;
    this.orders = new Orders(new Template(client.getKubernetesSerialization()));
    StasisConfig.Holder holder = config.holder();
    this.maker =
        new TargetMaker(new TargetSettings(holder.image(), holder.command(), holder.injected()));
  }

  /** What came of it. */
  sealed interface Made {}

  /**
   * The pod is there.
   *
   * @param pod as the API server has it
   * @param others containers that start anew in it
   */
  record Is(Pod pod, List<String> others) implements Made {
    Is {
      others = List.copyOf(others);
    }
  }

  /** Not now. */
  record Later(Reason reason, String sentence) implements Made {}

  /** Never. */
  record Never(List<Fault> faults) implements Made {
    Never {
      faults = List.copyOf(faults);
    }
  }

  /** The place that the source needs, as its agent has said it. */
  Sought sought(View view, Pod now, String container) {
    Hardware hardware =
        Objects.requireNonNull(view.status().getSourceHardware(), "it was looked at");
    return new Sought(
        Fingerprint.parse(Objects.requireNonNullElse(hardware.fingerprint(), "")),
        view.work()
            .look()
            .map(OperationView::status)
            .map(GpuNodeOperationStatus::getImage)
            .orElse(""),
        orders.original(view, now),
        container,
        Objects.requireNonNullElse(now.getSpec().getNodeName(), ""),
        null);
  }

  /**
   * Makes the target of the next attempt, first as a dry run; one that is there already is it.
   *
   * @param never nodes that do not come into question
   */
  Made make(View view, Next.Make make, Collection<String> never) {
    GpuMigration migration = view.migration();
    String namespace = migration.getMetadata().getNamespace();
    Optional<Pod> there =
        targets.madeFor(namespace, migration.getMetadata().getUid()).stream()
            .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
            .findFirst();
    if (there.isPresent()) {
      return new Is(there.get(), List.of());
    }
    Set<String> taken = new HashSet<>();
    cluster.pods(namespace).forEach(pod -> taken.add(pod.getMetadata().getName()));
    for (int round = 0; round < NAMES; round++) {
      TargetPlan plan = maker.make(frozen(view, make), wish(view, make, taken, never));
      if (plan instanceof TargetPlan.Refused refused) {
        return refused(refused);
      }
      TargetPlan.Made made = (TargetPlan.Made) plan;
      Targets.Answer answer = targets.create(made.pod(), true);
      if (answer instanceof Targets.Accepted) {
        answer = targets.create(made.pod(), false);
      }
      if (answer instanceof Targets.Accepted accepted) {
        return new Is(accepted.pod(), made.otherContainers());
      }
      if (answer instanceof Targets.Refused refused) {
        return new Later(Reason.REFUSED_BY_CLUSTER, refused.sentence());
      }
      taken.add(made.pod().getMetadata().getName());
    }
    return new Later(Reason.TARGET_TAKEN, "pod: wanted a free name, found " + NAMES + " taken");
  }

  void remove(Pod pod) {
    targets.remove(pod);
  }

  private static Made refused(TargetPlan.Refused refused) {
    boolean mayChange =
        refused.refusals().stream().allMatch(refusal -> refusal.reason() == Reason.NO_NODE_FITS);
    return mayChange
        ? new Later(Reason.NO_NODE_FITS, refused.sentence())
        : new Never(refused.refusals().stream().map(Refusal::fault).toList());
  }

  private FrozenPod frozen(View view, Next.Make make) {
    Places places = new Places(cluster.gpuNodes(), cluster.nodes());
    Sought sought = sought(view, make.source().pod(), make.source().container());
    return new FrozenPod(
        view.migration().getMetadata().getName(),
        sought.pod(),
        sought.container(),
        Objects.requireNonNullElse(make.look().status().getArgv(), List.of()),
        places.image(sought),
        sought.node(),
        places.placement(sought, view.now()),
        view.migration().getSpec().getOtherContainers());
  }

  private Wish wish(View view, Next.Make make, Set<String> taken, Collection<String> never) {
    GpuMigration migration = view.migration();
    return new Wish(
        migration.getMetadata().getNamespace() + "/" + migration.getMetadata().getName(),
        migration.getMetadata().getUid(),
        view.attempts() + 1,
        Objects.requireNonNullElse(migration.getSpec().getTarget(), ANYWHERE),
        way(make.source().pod()),
        taken,
        new TreeSet<>(never),
        migration.getSpec().getDeadline().duration(),
        raised(view, make.source().pod(), make.source().container())
            .map(memory -> new Wish.Memory(memory.request(), Optional.of(memory.limit()))));
  }

  /** Its controller would take it at once, and delete one of the two. */
  private Way way(Pod source) {
    return Owners.of(source)
        .<Way>map(
            owner ->
                new Way.Apart(adoption.selectorKeys(source.getMetadata().getNamespace(), owner)))
        .orElseGet(() -> new Way.Alone(false));
  }

  /** The memory that a target is made with beyond what the source had; empty: none. */
  Optional<RoomPlan.Memory> raised(View view, Pod now, String container) {
    Long needed =
        view.work()
            .look()
            .map(OperationView::status)
            .map(GpuNodeOperationStatus::getRoom)
            .map(Room::neededBytes)
            .orElse(null);
    return needed == null
        ? Optional.empty()
        : room.raised(orders.original(view, now), container, needed);
  }

  /** The pod as it was before it was touched. */
  Pod original(View view, Pod now) {
    return orders.original(view, now);
  }
}
