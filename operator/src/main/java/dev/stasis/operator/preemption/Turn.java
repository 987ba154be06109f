package dev.stasis.operator.preemption;

import dev.stasis.api.v1alpha1.GpuPreemptionPolicy;
import dev.stasis.api.v1alpha1.policy.Gangs;
import dev.stasis.api.v1alpha1.policy.GpuPreemptionPolicySpec;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** One look at one policy: what it has begun, and whether room is to be made for somebody. */
final class Turn {

  /** The budget's hour. */
  static final Duration HOUR = Duration.ofHours(1);

  /** The scheduler takes up to ten seconds until it looks at a pod again; three times that. */
  private static final Duration TO_BE_PLACED = Duration.ofSeconds(30);

  /** What was written is in the cache within milliseconds, unless the watch has to begin anew. */
  private static final Duration TO_BE_SEEN = Duration.ofSeconds(10);

  /** A GpuRestore names its GpuCheckpoint in 63 letters; nine are ours. */
  private static final int NAME = 63 - 9;

  private final Cluster cluster;
  private final GpuPods gpus;
  private final Admission admission;
  private final Census census;
  private final Aftermath aftermath;
  private final Deeds deeds;
  private final Stories stories;
  private final VictimChooser chooser = new VictimChooser();

  /** Names of what was made and is not in the cache yet: until then nothing is decided. */
  private final Map<String, Instant> unseen = new ConcurrentHashMap<>();

  Turn(Cluster cluster, GpuPods gpus, Aftermath aftermath, Deeds deeds, Stories stories) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.admission = new Admission(cluster, gpus);
    this.census = new Census(cluster, gpus, admission);
    this.aftermath = aftermath;
    this.deeds = deeds;
    this.stories = stories;
  }

  /** One decision at a time, of all policies together: none of them knows the other's plans. */
  synchronized void take(GpuPreemptionPolicy policy, Report report, Instant now) {
    Ledger ledger = new Ledger(policy, now);
    List<Yield> yields = yields(policy);
    for (Yield yield : yields) {
      aftermath.follow(policy, yield, now);
    }
    List<Pod> waiting = admission.waiting(policy);
    Collection<Pod> all = admission.pods().toList();
    SortedSet<String> preempting = admission.preempting(policy, all);
    ledger.preempting(preempting);
    int used = (int) yields.stream().filter(it -> it.created().plus(HOUR).isAfter(now)).count();
    boolean intercepts = Boolean.TRUE.equals(policy.getSpec().getInterceptScheduler());
    if (Boolean.TRUE.equals(policy.getSpec().getSuspend())) {
      report.notReached(Reason.PAUSED, "takes no victims: spec.suspend is true");
    } else if (!preempting.isEmpty() && !intercepts) {
      String sentence = schedulerFirst(preempting);
      report.notReached(Reason.SCHEDULER_PREEMPTS_FIRST, sentence);
      stories.warn(policy, Reason.SCHEDULER_PREEMPTS_FIRST, sentence, "classes/" + preempting);
    } else {
      decide(policy, waiting, yields, used, report, ledger, now);
    }
    ledger.write(yields, waiting.size(), used + ledger.taken(), candidates(policy, all), cluster);
  }

  private static String schedulerFirst(Set<String> classes) {
    return "preemptionPolicy: wanted Never, or interceptScheduler: true, found PriorityClasses with"
        + " which the scheduler deletes victims before they can be frozen: "
        + String.join(", ", classes);
  }

  private int candidates(GpuPreemptionPolicy policy, Collection<Pod> all) {
    int most = policy.getSpec().getVictims().maxPriority();
    return (int)
        all.stream()
            .filter(pod -> pod.getSpec().getNodeName() != null)
            .filter(pod -> new PodState(pod).priority() <= most)
            .filter(pod -> admission.noVictim(policy, pod).isEmpty())
            .count();
  }

  private void decide(
      GpuPreemptionPolicy policy,
      List<Pod> waiting,
      List<Yield> yields,
      int used,
      Report report,
      Ledger ledger,
      Instant now) {
    long gated = admission.gated(policy);
    String also =
        gated == 0
            ? ""
            : "; %d pods with a scheduling gate are not covered until it is taken away"
                .formatted(gated);
    Reason reason = Reason.WATCHING;
    String sentence = "no preemptor waits";
    for (List<Pod> group : groups(waiting)) {
      Pod first = group.get(0);
      String who = new PodState(first).name();
      Optional<GpuPreemptionPolicy> older = admission.older(policy, first);
      if (older.isPresent()) {
        String name = older.get().getMetadata().getName();
        sentence =
            "preemptors: wanted pods of no other policy, found %s, for which the older policy %s acts"
                .formatted(who, name);
        reason = Reason.CONFLICTING_POLICIES;
        stories.warn(policy, reason, sentence, "conflict/" + name);
        continue;
      }
      Optional<String> pending = pending(group, yields, now);
      if (pending.isPresent() || isUnseen(now)) {
        reason = Reason.ROOM_BEING_MADE;
        sentence = who + ": " + pending.orElse("its victims are being told");
        break;
      }
      Decision decision = choose(policy, group, yields, used, now);
      if (decision instanceof Decision.Take take && victims(take) > 0) {
        make(policy, group, take, ledger, now);
        reason = Reason.ROOM_BEING_MADE;
        sentence = who + ": " + take.rooms().get(0).why();
        break;
      }
      String why = decision instanceof Decision.Take take ? fits(take) : words(decision);
      reason = Reason.NO_VICTIMS;
      sentence = who + ": " + why;
      stories.warn(first, reason, "policy %s: %s".formatted(name(policy), why), "none/" + used);
    }
    switch (reason) {
      case CONFLICTING_POLICIES -> report.notReached(reason, sentence + also);
      default -> report.done(reason, sentence + also);
    }
  }

  private static String fits(Decision.Take take) {
    return "nobody has to yield: "
        + take.rooms().get(0).why()
        + ", and the scheduler is waited for";
  }

  private static int victims(Decision.Take take) {
    return take.rooms().stream().mapToInt(room -> room.victims().size()).sum();
  }

  private Decision choose(
      GpuPreemptionPolicy policy, List<Pod> group, List<Yield> yields, int used, Instant now) {
    GpuPreemptionPolicySpec spec = policy.getSpec();
    Rules rules =
        new Rules(
            spec.getVictims().maxPriority(),
            spec.getMinRunTime().duration(),
            spec.getBudgetPerHour() - used,
            spec.getBudgetPerPodPerHour(),
            spec.getMaxVictims(),
            spec.getGangs() == Gangs.ALLOW,
            Objects.requireNonNullElse(spec.getOrder(), List.of()));
    return chooser.choose(group, census.places(policy, group, times(yields, now), now), rules, now);
  }

  /**
   * How often each pod has yielded in the last hour, to this policy; the one in which it came back
   * goes on counting.
   */
  private static Map<String, Integer> times(List<Yield> yields, Instant now) {
    Map<String, Integer> times = new HashMap<>();
    yields.stream()
        .filter(it -> it.created().plus(HOUR).isAfter(now) && !it.isRefused())
        .sorted(Comparator.comparing(Yield::created))
        .forEach(
            it -> {
              int so = times.merge(it.namespace() + "/" + it.victim(), 1, Integer::sum);
              times.put(it.namespace() + "/" + it.comesBackAs(), so);
            });
    return times;
  }

  /** What was begun for it and is not over; empty: nothing. */
  private static Optional<String> pending(List<Pod> group, List<Yield> yields, Instant now) {
    Set<String> uids =
        group.stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet());
    List<Yield> own = yields.stream().filter(it -> uids.contains(it.preemptor().uid())).toList();
    long working = own.stream().filter(Yield::isAtWork).count();
    if (working > 0) {
      return Optional.of("%d of %d pods are still being frozen".formatted(working, own.size()));
    }
    return own.stream()
            .flatMap(it -> it.evicted().stream())
            .anyMatch(time -> time.plus(TO_BE_PLACED).isAfter(now))
        ? Optional.of("room is made, and the scheduler is waited for")
        : Optional.empty();
  }

  private boolean isUnseen(Instant now) {
    Set<String> seen =
        cluster.policies().stream()
            .flatMap(it -> cluster.checkpointsFor(it.getMetadata().getUid()).stream())
            .map(it -> it.getMetadata().getNamespace() + "/" + it.getMetadata().getName())
            .collect(Collectors.toSet());
    unseen
        .entrySet()
        .removeIf(it -> seen.contains(it.getKey()) || it.getValue().plus(TO_BE_SEEN).isBefore(now));
    return !unseen.isEmpty();
  }

  private List<Yield> yields(GpuPreemptionPolicy policy) {
    String uid = policy.getMetadata().getUid();
    return Yield.of(cluster.checkpointsFor(uid), cluster.restoresFor(uid));
  }

  /** Pods that get room together or not at all, in the order in which they wait. */
  private Collection<List<Pod>> groups(List<Pod> waiting) {
    Map<String, List<Pod>> groups = new LinkedHashMap<>();
    for (Pod pod : waiting) {
      String key =
          Gang.of(pod, cluster::pods).map(Gang::key).orElseGet(() -> pod.getMetadata().getUid());
      groups.computeIfAbsent(key, it -> new ArrayList<>()).add(pod);
    }
    return groups.values();
  }

  /** The place is kept before anybody goes, so that nobody else takes it. */
  private void make(
      GpuPreemptionPolicy policy, List<Pod> group, Decision.Take take, Ledger ledger, Instant now) {
    for (int i = 0; i < group.size(); i++) {
      if (!deeds.nominate(group.get(i), take.rooms().get(i).node())) {
        // It has found its place by itself: nobody yields, and its change is looked at next.
        return;
      }
    }
    for (int i = 0; i < group.size(); i++) {
      Pod preemptor = group.get(i);
      Decision.Room room = take.rooms().get(i);
      stories.tell(
          preemptor,
          Reason.ROOM_BEING_MADE,
          "policy %s: %s".formatted(name(policy), room.why()),
          "room/" + now);
      for (Candidate victim : room.victims()) {
        String name = yieldName(victim.pod(), preemptor);
        unseen.put(victim.pod().getMetadata().getNamespace() + "/" + name, now);
        deeds.evict(policy, name, victim.pod(), preemptor);
        stories.tell(
            victim.pod(),
            Reason.YIELDS,
            "yields %d GPUs to pod %s of priority %d, as policy %s says; comes back by GpuRestore %s"
                .formatted(
                    gpus.count(victim.pod()),
                    new PodState(preemptor).name(),
                    new PodState(preemptor).priority(),
                    name(policy),
                    name),
            name);
      }
      ledger.made(preemptor, room);
    }
  }

  private static String name(GpuPreemptionPolicy policy) {
    return policy.getMetadata().getName();
  }

  private static String words(Decision decision) {
    Map<String, String> missing = ((Decision.Nothing) decision).missing();
    if (missing.isEmpty()) {
      return "nobody yields: no node has GPUs";
    }
    String reasons =
        missing.entrySet().stream()
            .limit(3)
            .map(it -> it.getKey() + ": " + it.getValue())
            .collect(Collectors.joining("; "));
    return "nobody yields, since it would still not fit: "
        + reasons
        + (missing.size() > 3 ? "; and %d more nodes".formatted(missing.size() - 3) : "");
  }

  /** The same for whoever looks again; as long as a name of a GpuCheckpoint may be. */
  static String yieldName(Pod victim, Pod preemptor) {
    String seed = victim.getMetadata().getUid() + preemptor.getMetadata().getUid();
    String name = victim.getMetadata().getName();
    String kept = name.substring(0, Math.min(name.length(), NAME)).replaceAll("[-.]+$", "");
    String letters =
        UUID.nameUUIDFromBytes(seed.getBytes(StandardCharsets.UTF_8)).toString().substring(0, 8);
    return kept + "-" + letters;
  }
}
