package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.OtherContainers;
import dev.stasis.api.v1alpha1.common.Room;
import dev.stasis.api.v1alpha1.common.Target;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.holder.Places;
import dev.stasis.operator.holder.Standing;
import dev.stasis.operator.holder.Targets;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.TargetRoom;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.target.ColdStartMaker;
import dev.stasis.operator.target.FrozenPod;
import dev.stasis.operator.target.Refusal;
import dev.stasis.operator.target.TargetMaker;
import dev.stasis.operator.target.TargetPlan;
import dev.stasis.operator.target.TargetSettings;
import dev.stasis.operator.target.Way;
import dev.stasis.operator.target.Wish;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Makes targets, and the pods of cold starts. */
@Singleton
class TargetWork {

  /** A name can be taken between the look and the creation, but not for ever. */
  private static final int NAMES = 5;

  /** Nobody knows yet which deadline its GpuRestore has; the longest that the API allows. */
  private static final Duration LONGEST = Duration.ofHours(168);

  private static final Target ANYWHERE = new Target(null, null, null, null);

  private final Cluster cluster;
  private final Names names;
  private final Targets targets;
  private final OwnedTargets owned;
  private final TargetMaker maker;
  private final ColdStartMaker coldStarts;
  private final TargetRoom room = new TargetRoom();

  TargetWork(Cluster cluster, Targets targets, StasisConfig config) {
    this.cluster = cluster;
    this.names = new Names(cluster);
    this.targets = targets;
    this.owned = new OwnedTargets(cluster, targets);
    StasisConfig.Holder holder = config.holder();
    this.maker =
        new TargetMaker(new TargetSettings(holder.image(), holder.command(), holder.injected()));
    this.coldStarts = new ColdStartMaker(holder.injected());
  }

  /** What came of it. */
  sealed interface Made {}

  /**
   * The pod is there.
   *
   * @param pod as the API server has it
   * @param others containers that start anew in it
   * @param notes what it has not, or has more, than the one that was frozen; in words
   */
  record Pods(Pod pod, List<String> others, List<String> notes) implements Made {
    Pods {
      others = List.copyOf(others);
      notes = List.copyOf(notes);
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

  /** Makes the target of the next attempt, first as a dry run; one that is there already is it. */
  Made target(View view, Source.Ready source) {
    // First: while the controller lives, nothing is made here, and nothing else is asked.
    Optional<OwnedTargets.Controller> owner = livingOwner(source);
    if (owner.isPresent()) {
      return owned.claim(view, source, owner.get());
    }
    Optional<Pod> there = unfinished(view.restore()).filter(View::isTarget);
    if (there.isPresent()) {
      return new Pods(there.get(), List.of(), List.of());
    }
    Set<String> taken = names.taken(view.restore().getMetadata().getNamespace());
    for (int round = 0; round < NAMES; round++) {
      TargetPlan plan = maker.make(frozen(source, view.now()), wish(view, source, taken));
      if (plan instanceof TargetPlan.Refused refused) {
        return refused(view, source, refused);
      }
      TargetPlan.Made made = (TargetPlan.Made) plan;
      Pod pod = RatherNot.on(made.pod(), view.restore());
      Targets.Answer answer = targets.create(pod, true);
      if (answer instanceof Targets.Accepted) {
        answer = targets.create(pod, false);
      }
      if (answer instanceof Targets.Accepted accepted) {
        List<String> notes = new ArrayList<>(made.dropped());
        notes.addAll(added(pod, accepted.pod()));
        return new Pods(accepted.pod(), made.otherContainers(), notes);
      }
      if (answer instanceof Targets.Refused refused) {
        return new Later(Reason.REFUSED_BY_CLUSTER, refused.sentence());
      }
      taken.add(pod.getMetadata().getName());
    }
    return new Later(Reason.TARGET_TAKEN, "pod: wanted a free name, found " + NAMES + " taken");
  }

  /** Starts the workload from its image. */
  Made coldStart(View view, Source.Ready source) {
    Optional<Pod> there = unfinished(view.restore()).filter(pod -> !View.isTarget(pod));
    if (there.isPresent()) {
      return new Pods(there.get(), List.of(), List.of());
    }
    Optional<OwnedTargets.Controller> owner = livingOwner(source);
    if (owner.isPresent()) {
      // Once that is written down the hand-over is over: this one goes, the next one is as always.
      return owned.waiting(source, owner.get());
    }
    Set<String> taken = names.taken(view.restore().getMetadata().getNamespace());
    for (int round = 0; round < NAMES; round++) {
      Pod pod = coldStarts.make(frozen(source, view.now()), wish(view, source, taken));
      Targets.Answer answer = targets.create(pod, false);
      if (answer instanceof Targets.Accepted accepted) {
        return new Pods(accepted.pod(), List.of(), List.of());
      }
      if (answer instanceof Targets.Refused refused) {
        return new Later(Reason.REFUSED_BY_CLUSTER, refused.sentence());
      }
      taken.add(pod.getMetadata().getName());
    }
    return new Later(Reason.TARGET_TAKEN, "pod: wanted a free name, found " + NAMES + " taken");
  }

  /** Turns the pod that its controller makes in the source's place into the target. */
  TargetPlan inPlace(Pod made, Source.Ready source, Instant now) {
    GpuCheckpoint checkpoint = source.checkpoint();
    String holds = source.artifact().getNode();
    return maker.make(
        frozen(source, now),
        new Wish(
            checkpoint.getMetadata().getNamespace() + "/" + checkpoint.getMetadata().getName(),
            checkpoint.getMetadata().getUid(),
            1,
            new Target(holds, null, null, null),
            new Way.InPlace(made),
            Set.of(),
            new TreeSet<>(),
            LONGEST,
            memory(source)));
  }

  void remove(Pod pod) {
    targets.remove(pod);
  }

  /** The memory that the pod was made with beyond what it had; empty: none. */
  Optional<RoomPlan.Memory> raised(Source.Ready source) {
    Optional<Long> limit = room.limit(source.pod(), source.container());
    long gpuBytes = Objects.requireNonNullElse(source.artifact().getGpuBytes(), 0L);
    Room known = source.checkpoint().getStatus().getRoom();
    Long needed = known == null ? null : known.neededBytes();
    return limit.flatMap(
        bytes ->
            room.raised(
                source.pod(),
                source.container(),
                Objects.requireNonNullElse(needed, bytes + gpuBytes)));
  }

  private Made refused(View view, Source.Ready source, TargetPlan.Refused refused) {
    List<Refusal> refusals = refused.refusals();
    boolean mayChange =
        refusals.stream()
            .allMatch(
                refusal ->
                    refusal.reason() == Reason.NO_NODE_FITS
                        || (refusal.reason() == Reason.TARGET_TAKEN
                            && names.isFreed(view.restore(), source.checkpoint())));
    return mayChange
        ? new Later(refusals.get(0).reason(), refused.sentence())
        : new Never(refusals.stream().map(Refusal::fault).toList());
  }

  private Optional<Pod> unfinished(GpuRestore restore) {
    return targets
        .madeFor(restore.getMetadata().getNamespace(), restore.getMetadata().getUid())
        .stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .findFirst();
  }

  private Optional<OwnedTargets.Controller> livingOwner(Source.Ready source) {
    String namespace = source.pod().getMetadata().getNamespace();
    for (OwnerReference owner : source.pod().getMetadata().getOwnerReferences()) {
      if (Boolean.TRUE.equals(owner.getController())
          && !Set.of("DaemonSet", "Node").contains(owner.getKind())
          && targets.standing(namespace, owner) instanceof Standing.Lives lives) {
        return Optional.of(new OwnedTargets.Controller(owner, lives));
      }
    }
    return Optional.empty();
  }

  private FrozenPod frozen(Source.Ready source, Instant now) {
    Places places = new Places(cluster.gpuNodes(), cluster.nodes());
    // That of the checkpoint was agreed to before the freeze.
    OtherContainers others = source.checkpoint().getSpec().getOtherContainers();
    return new FrozenPod(
        source.checkpoint().getMetadata().getName(),
        source.pod(),
        source.container(),
        source.argv(),
        places.image(source.sought()),
        source.node(),
        places.placement(source.sought(), now),
        others);
  }

  private Wish wish(View view, Source.Ready source, Set<String> taken) {
    GpuRestore restore = view.restore();
    Target asked = asked(restore);
    String holds = source.artifact().getNode();
    Target target =
        new Target(
            holds == null ? asked.nodeName() : holds,
            asked.nodeSelector(),
            asked.podName(),
            asked.labels());
    return new Wish(
        restore.getMetadata().getNamespace() + "/" + restore.getMetadata().getName(),
        restore.getMetadata().getUid(),
        view.attempts() + 1,
        target,
        new Way.Alone(true),
        taken,
        View.excluded(view.restore()),
        restore.getSpec().getDeadline().duration(),
        memory(source));
  }

  private Optional<Wish.Memory> memory(Source.Ready source) {
    return raised(source)
        .map(memory -> new Wish.Memory(memory.request(), Optional.of(memory.limit())));
  }

  private static Target asked(GpuRestore restore) {
    return Objects.requireNonNullElse(restore.getSpec().getTarget(), ANYWHERE);
  }

  /** What admission put in beyond what was asked for. */
  private static List<String> added(Pod asked, Pod got) {
    List<String> before = parts(asked).toList();
    return parts(got).filter(part -> !before.contains(part)).map(it -> "added: " + it).toList();
  }

  private static Stream<String> parts(Pod pod) {
    return Stream.of(
            pod.getSpec().getContainers().stream().map(it -> "container " + it.getName()),
            pod.getSpec().getInitContainers().stream().map(it -> "init container " + it.getName()),
            pod.getSpec().getSchedulingGates().stream()
                .map(it -> "scheduling gate " + it.getName()))
        .flatMap(it -> it);
  }
}
