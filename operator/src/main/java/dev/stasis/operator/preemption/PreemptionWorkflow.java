package dev.stasis.operator.preemption;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuPreemptionPolicy;
import dev.stasis.api.v1beta1.policy.GpuPreemptionPolicySpec;
import dev.stasis.api.v1beta1.policy.GroupPolicy;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.request.RequestWrites;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.Pod;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Reconciles a policy: follows up earlier preemptions, then decides about pods that wait. */
final class PreemptionWorkflow {

  /** The period of the budgets. */
  static final Duration BUDGET_PERIOD = Duration.ofHours(1);

  /** The scheduler retries a pod within ten seconds; three times that. */
  private static final Duration TO_BE_PLACED = Duration.ofSeconds(30);

  /** A write reaches the cache within milliseconds, unless the watch has to be restarted. */
  private static final Duration TO_BE_OBSERVED = Duration.ofSeconds(10);

  private final Cluster cluster;
  private final GpuPods gpus;
  private final PolicyScope scope;
  private final PreemptionObserver observer;
  private final PreemptionFollowUp followUp;
  private final RequestWrites writes;
  private final EventRecorder events;

  /**
   * Checkpoints that were created but are not in the cache yet; no decision is made until they are.
   */
  private final Map<String, Instant> expected = new ConcurrentHashMap<>();

  PreemptionWorkflow(
      Cluster cluster,
      GpuPods gpus,
      PreemptionFollowUp followUp,
      RequestWrites writes,
      EventRecorder events) {
    this.cluster = cluster;
    this.gpus = gpus;
    this.scope = new PolicyScope(cluster, gpus);
    this.observer = new PreemptionObserver(cluster, gpus, scope);
    this.followUp = followUp;
    this.writes = writes;
    this.events = events;
  }

  /** Returns whether a victim was refused, so that another one is chosen at once. */
  boolean reconcile(GpuPreemptionPolicy policy, Report report, Instant now) {
    String uid = policy.getMetadata().getUid();
    List<PreemptedPod> preempted =
        PreemptedPod.of(cluster.checkpointsFor(uid), cluster.restoresFor(uid));
    for (PreemptedPod pod : preempted) {
      followUp.followUp(policy, pod, now);
    }
    return decideExclusively(policy, preempted, report, now);
  }

  /**
   * One decision at a time, because the decision of one policy does not see an unfinished one of
   * another.
   */
  private synchronized boolean decideExclusively(
      GpuPreemptionPolicy policy, List<PreemptedPod> preempted, Report report, Instant now) {
    PreemptionStatusUpdater status = new PreemptionStatusUpdater(policy, now);
    List<Pod> waiting = scope.waiting(policy);
    Collection<Pod> all = scope.pods().toList();
    SortedSet<String> preempting = scope.preemptingClasses(policy, all);
    int used =
        (int)
            preempted.stream().filter(it -> it.created().plus(BUDGET_PERIOD).isAfter(now)).count();
    boolean refused = false;
    if (Boolean.TRUE.equals(policy.getSpec().getSuspend())) {
      report.rests(Reason.PAUSED, "no preemption: spec.suspend is true");
    } else if (!preempting.isEmpty()
        && !Boolean.TRUE.equals(policy.getSpec().getOptions().getInterceptScheduler())) {
      String sentence =
          "preemptionPolicy: expected Never, or interceptScheduler: true, got PriorityClasses with"
              + " which the scheduler deletes victims before they can be frozen: "
              + String.join(", ", preempting);
      report.stalled(Reason.SCHEDULER_PREEMPTS_FIRST, sentence);
      events.warning(policy, Reason.SCHEDULER_PREEMPTS_FIRST, sentence, "classes/" + preempting);
    } else {
      refused = decide(policy, waiting, preempted, used, report, status, now);
    }
    status.write(
        preempting, preempted, waiting.size(), used, scope.candidates(policy, all), cluster);
    return refused;
  }

  private boolean decide(
      GpuPreemptionPolicy policy,
      List<Pod> waiting,
      List<PreemptedPod> preempted,
      int used,
      Report report,
      PreemptionStatusUpdater status,
      Instant now) {
    Reason reason = Reason.WATCHING;
    String sentence = "no preemptor is waiting";
    boolean unobserved = isUnobserved(now);
    PreemptionPass pass = null;
    for (List<Pod> group : groups(waiting)) {
      Pod first = group.get(0);
      String name = new PodState(first).name();
      Optional<String> older =
          scope.older(policy, first).map(other -> other.getMetadata().getName());
      if (older.isPresent()) {
        sentence =
            "preemptors: pod %s also matches the older policy %s, which takes precedence"
                .formatted(name, older.get());
        reason = Reason.CONFLICTING_POLICIES;
        events.warning(policy, reason, sentence, "conflict/" + older.get());
        continue;
      }
      Optional<String> pending = pending(group, preempted, now);
      if (pending.isPresent() || unobserved) {
        reason = Reason.ROOM_BEING_MADE;
        sentence = name + ": " + pending.orElse("its victims are being checkpointed");
        break;
      }
      if (pass == null) {
        pass =
            new PreemptionPass(
                observer.snapshot(policy, victimCounts(preempted, now), now),
                rules(policy, used),
                now);
      }
      PreemptionDecision decision = pass.decide(group);
      if (decision.victims() > 0) {
        Optional<String> refusal =
            preempt(policy, group, (PreemptionDecision.Preempt) decision, status, now);
        reason = refusal.isPresent() ? Reason.CHECKPOINT_REFUSED : Reason.ROOM_BEING_MADE;
        sentence = name + ": " + refusal.orElseGet(decision::sentence);
        break;
      }
      reason = Reason.NO_VICTIMS;
      sentence = name + ": " + decision.sentence();
      events.warning(
          first,
          reason,
          "policy %s: %s".formatted(policy.getMetadata().getName(), decision.sentence()),
          "none/" + used);
    }
    long gated = scope.gated(policy);
    if (gated > 0) {
      sentence += "; %d pods are not considered while they have a scheduling gate".formatted(gated);
    }
    if (reason == Reason.CONFLICTING_POLICIES) {
      report.notReached(reason, sentence);
    } else {
      report.done(reason, sentence);
    }
    return reason == Reason.CHECKPOINT_REFUSED;
  }

  private static VictimRules rules(GpuPreemptionPolicy policy, int used) {
    GpuPreemptionPolicySpec spec = policy.getSpec();
    return new VictimRules(
        spec.getVictims().maxPriority(),
        spec.getMinRunTime().duration(),
        spec.getOptions().getBudgetPerHour() - used,
        spec.getOptions().getBudgetPerPodPerHour(),
        spec.getOptions().getMaxVictims(),
        spec.getOptions().getGroupPolicy() == GroupPolicy.PREEMPT,
        Objects.requireNonNullElse(spec.getOptions().getOrder(), List.of()));
  }

  /** Counts how often each pod was a victim in the period; its restored pod keeps the count. */
  private static Map<String, Integer> victimCounts(List<PreemptedPod> preempted, Instant now) {
    Map<String, Integer> counts = new HashMap<>();
    preempted.stream()
        .filter(it -> it.created().plus(BUDGET_PERIOD).isAfter(now) && !it.isRefused())
        .sorted(Comparator.comparing(PreemptedPod::created))
        .forEach(
            it -> {
              int count = counts.merge(it.namespace() + "/" + it.victim(), 1, Integer::sum);
              counts.put(it.namespace() + "/" + it.restoredAs(), count);
            });
    return counts;
  }

  /** Returns what is in progress for the pods; empty if nothing is. */
  private static Optional<String> pending(
      List<Pod> group, List<PreemptedPod> preempted, Instant now) {
    Set<String> uids =
        group.stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet());
    List<PreemptedPod> victims =
        preempted.stream().filter(it -> uids.contains(it.preemptor().uid())).toList();
    long active = victims.stream().filter(PreemptedPod::isActive).count();
    if (active > 0) {
      return Optional.of("%d of %d pods are still being frozen".formatted(active, victims.size()));
    }
    return victims.stream()
            .flatMap(it -> it.evicted().stream())
            .anyMatch(time -> time.plus(TO_BE_PLACED).isAfter(now))
        ? Optional.of("victims are removed; waiting for the scheduler")
        : Optional.empty();
  }

  private boolean isUnobserved(Instant now) {
    Set<String> observed =
        cluster.policies().stream()
            .flatMap(it -> cluster.checkpointsFor(it.getMetadata().getUid()).stream())
            .map(it -> it.getMetadata().getNamespace() + "/" + it.getMetadata().getName())
            .collect(Collectors.toSet());
    expected
        .entrySet()
        .removeIf(
            it ->
                observed.contains(it.getKey()) || it.getValue().plus(TO_BE_OBSERVED).isBefore(now));
    return !expected.isEmpty();
  }

  /** Groups pods that are placed together or not at all, in the order in which they wait. */
  private Collection<List<Pod>> groups(List<Pod> waiting) {
    Map<String, List<Pod>> groups = new LinkedHashMap<>();
    GangIndex gangs = new GangIndex(cluster);
    for (Pod pod : waiting) {
      String key = gangs.of(pod).map(Gang::key).orElseGet(() -> pod.getMetadata().getUid());
      groups.computeIfAbsent(key, it -> new ArrayList<>()).add(pod);
    }
    return groups.values();
  }

  /**
   * Nominates all pods before a victim is frozen, so that no other pod takes their places.
   *
   * @return why no pod is preempted: the checkpoint of a victim is refused; empty if none is
   */
  private Optional<String> preempt(
      GpuPreemptionPolicy policy,
      List<Pod> group,
      PreemptionDecision.Preempt decision,
      PreemptionStatusUpdater status,
      Instant now) {
    for (int i = 0; i < group.size(); i++) {
      if (!writes.nominate(group.get(i), decision.assignments().get(i).node())) {
        // The scheduler has placed it, so no victim is needed; that change triggers the next
        // reconciliation.
        return Optional.empty();
      }
    }
    Optional<String> refusal = checkpoint(policy, group, decision, now);
    if (refusal.isPresent()) {
      return refusal;
    }
    String policyName = policy.getMetadata().getName();
    for (int i = 0; i < group.size(); i++) {
      Pod preemptor = group.get(i);
      NodeAssignment assignment = decision.assignments().get(i);
      events.normal(
          preemptor,
          Reason.ROOM_BEING_MADE,
          "policy %s: %s".formatted(policyName, assignment.why()),
          "room/" + now);
      for (VictimCandidate victim : assignment.victims()) {
        String name = PreemptionRequests.name(victim.pod(), preemptor);
        events.normal(
            victim.pod(),
            Reason.YIELDS,
            ("preempted: releases %d GPUs for pod %s of priority %d under policy %s; restored by"
                    + " GpuRestore %s")
                .formatted(
                    gpus.count(victim.pod()),
                    new PodState(preemptor).name(),
                    new PodState(preemptor).priority(),
                    policyName,
                    name),
            name);
      }
      status.add(preemptor, assignment);
    }
    return Optional.empty();
  }

  /** Creates the checkpoints of all victims; if one is refused, none stays, and it returns why. */
  private Optional<String> checkpoint(
      GpuPreemptionPolicy policy,
      List<Pod> group,
      PreemptionDecision.Preempt decision,
      Instant now) {
    PreemptionRequests requests = new PreemptionRequests(policy);
    List<GpuCheckpoint> created = new ArrayList<>();
    for (int i = 0; i < group.size(); i++) {
      for (VictimCandidate victim : decision.assignments().get(i).victims()) {
        GpuCheckpoint checkpoint = requests.checkpoint(victim.pod(), group.get(i));
        String name = checkpoint.getMetadata().getName();
        String key = checkpoint.getMetadata().getNamespace() + "/" + name;
        expected.put(key, now);
        Optional<String> refusal = writes.create(checkpoint);
        if (refusal.isPresent()) {
          expected.remove(key);
          observer.refused(victim.pod(), refusal.get(), now);
          // Not only cancelled: the same names are needed if these pods are chosen again.
          created.forEach(writes::delete);
          String sentence =
              "pod %s is not preempted, because its GpuCheckpoint is refused: %s"
                  .formatted(victim.name(), refusal.get());
          events.warning(policy, Reason.CHECKPOINT_REFUSED, sentence, "refused/" + name);
          return Optional.of(sentence);
        }
        created.add(checkpoint);
      }
    }
    return Optional.empty();
  }
}
