package dev.stasis.operator.eviction;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.admission.AdmissionHook;
import dev.stasis.operator.admission.Verdict;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.RefusedCreates;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import io.fabric8.kubernetes.client.KubernetesClientException;
import jakarta.inject.Singleton;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * Refuses the eviction of a protected pod until the pod is checkpointed. The answer is 429, as for
 * a PodDisruptionBudget, so clients retry.
 */
@Singleton
class EvictionHook implements AdmissionHook {

  private static final System.Logger LOG = System.getLogger(EvictionHook.class.getName());

  /** Minimum interval between updates of the annotation with the last request. */
  private static final Duration NOTED_EVERY = Duration.ofSeconds(5);

  private final Cluster cluster;
  private final EvictionAttempts attempts;
  private final EvictionBudgets budgets;
  private final PodWrites pods;
  private final EventRecorder events;
  private final Clock clock;
  private final Departure departure;
  private final EvictionConfig config;
  private final EvictionDecider decider;

  EvictionHook(
      Cluster cluster,
      EvictionAttempts attempts,
      EvictionBudgets budgets,
      PodWrites pods,
      EventRecorder events,
      Clock clock,
      EvictionConfig config,
      StasisConfig stasis,
      Departure departure) {
    this.departure = departure;
    this.cluster = cluster;
    this.attempts = attempts;
    this.budgets = budgets;
    this.pods = pods;
    this.events = events;
    this.clock = clock;
    this.config = config;
    this.decider = new EvictionDecider(config, stasis.gpuResources());
  }

  @Override
  public String path() {
    return "evict";
  }

  @Override
  public Verdict review(AdmissionRequest request) {
    Optional<Pod> known = cluster.pod(request.getNamespace(), request.getName());
    if (known.isEmpty() || !decider.isProtected(known.get())) {
      return Verdict.allowed();
    }
    // The API server itself refuses an eviction of a former pod of the name.
    Optional<Pod> fresh = pods.fresh(request.getNamespace(), request.getName());
    if (fresh.isEmpty() || !decider.isProtected(fresh.get())) {
      return Verdict.allowed();
    }
    Pod pod = fresh.get();
    if (isDryRun(request)) {
      return Verdict.allowed(
          "pod " + request.getName() + " is protected: its eviction would wait for its checkpoint");
    }
    List<EvictionAttempt> made = attempts.of(pod);
    Instant now = clock.instant();
    EvictionDecision decision =
        decider.decide(
            new EvictionDecider.Observation(
                pod,
                made,
                made.isEmpty() ? Optional.empty() : attempts.freeze(made.get(made.size() - 1)),
                now));
    return carryOut(decision, pod, made, now);
  }

  private Verdict carryOut(
      EvictionDecision decision, Pod pod, List<EvictionAttempt> made, Instant now) {
    if (decision instanceof EvictionDecision.Begin begin) {
      return begin(begin, pod, made, now);
    } else if (decision instanceof EvictionDecision.Hold hold) {
      if (!now.isBefore(hold.attempt().requested().plus(NOTED_EVERY))) {
        attempts.requested(hold.attempt(), now);
      }
      return new Verdict.NotNow(hold.sentence());
    } else if (decision instanceof EvictionDecision.Allow allow) {
      Optional<String> against = departure.prepare(pod);
      if (against.isPresent()) {
        attempts.requested(allow.attempt(), now);
        return new Verdict.NotNow(against.get());
      }
      if (!attempts.claim(allow.attempt(), now)) {
        return new Verdict.NotNow(
            "pod " + pod.getMetadata().getName() + " is being processed; retry the eviction");
      }
      budgets.delete(pod.getMetadata().getNamespace(), pod.getMetadata().getUid());
      return Verdict.allowed();
    } else if (decision instanceof EvictionDecision.AllowUnsaved unsaved) {
      budgets.delete(pod.getMetadata().getNamespace(), pod.getMetadata().getUid());
      events.warning(pod, Reason.EVICTED_UNSAVED, unsaved.sentence(), unsaved.occasion());
      return Verdict.allowed(unsaved.sentence());
    }
    return Verdict.allowed();
  }

  private Verdict begin(
      EvictionDecision.Begin begin, Pod pod, List<EvictionAttempt> made, Instant now) {
    String name = pod.getMetadata().getName();
    boolean first = made.isEmpty() || begin.since().equals(now);
    Optional<String> refusal = first ? budgets.refusal(pod) : Optional.empty();
    if (refusal.isPresent()) {
      // The eviction would be refused after the freeze too.
      return new Verdict.NotNow(refusal.get());
    }
    Instant end = begin.since().plus(EvictionAttempt.deadline(pod, config));
    attempts.since(pod, begin.since());
    Optional<GpuCheckpoint> attempt;
    try {
      attempt = attempts.begin(pod, begin.number(), begin.since(), now, Duration.between(now, end));
    } catch (KubernetesClientException e) {
      // An exception would let the eviction pass: the webhook's failurePolicy is Ignore.
      return refused(pod, begin, end, e);
    }
    attempt.ifPresent(
        checkpoint -> {
          guard(pod, checkpoint);
          String sentence =
              "is checkpointed by GpuCheckpoint "
                  + checkpoint.getMetadata().getName()
                  + " before its eviction";
          events.normal(pod, Reason.SAVED_FIRST, sentence, checkpoint.getMetadata().getName());
        });
    return new Verdict.NotNow(
        "pod %s is checkpointed by GpuCheckpoint %s before its eviction; evicted anyway at %s"
            .formatted(
                name,
                attempt
                    .map(checkpoint -> checkpoint.getMetadata().getName())
                    .orElseGet(() -> EvictionAttempt.name(pod, begin.number())),
                end.truncatedTo(ChronoUnit.SECONDS)));
  }

  /** Holds the eviction until its deadline if a quota or a policy refuses the checkpoint. */
  private Verdict refused(
      Pod pod, EvictionDecision.Begin begin, Instant end, KubernetesClientException refusal) {
    String why = RefusedCreates.sentence(refusal);
    events.warning(
        pod,
        Reason.CHECKPOINT_REFUSED,
        "cannot be checkpointed before its eviction: " + why,
        EvictionAttempt.name(pod, begin.number()) + begin.since().truncatedTo(ChronoUnit.SECONDS));
    return new Verdict.NotNow(
        "pod %s cannot be checkpointed before its eviction: %s; retrying, evicted anyway at %s"
            .formatted(pod.getMetadata().getName(), why, end.truncatedTo(ChronoUnit.SECONDS)));
  }

  /** A pod without a budget is checkpointed too; it is unprotected only while no operator runs. */
  private void guard(Pod pod, GpuCheckpoint attempt) {
    try {
      budgets.create(pod, attempt);
    } catch (KubernetesClientException e) {
      LOG.log(
          Level.WARNING,
          "Pod has no PodDisruptionBudget during its checkpoint: namespace={0} pod={1}: {2}",
          pod.getMetadata().getNamespace(),
          pod.getMetadata().getName(),
          RefusedCreates.sentence(e));
    }
  }

  /** Set in the request, or in the options of the deletion inside the eviction. */
  private static boolean isDryRun(AdmissionRequest request) {
    boolean ofDeletion =
        request.getObject() instanceof Eviction eviction
            && eviction.getDeleteOptions() != null
            && eviction.getDeleteOptions().getDryRun() != null
            && !eviction.getDeleteOptions().getDryRun().isEmpty();
    return Boolean.TRUE.equals(request.getDryRun()) || ofDeletion;
  }
}
