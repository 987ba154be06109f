package dev.stasis.operator.eviction;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.operator.admission.AdmissionHook;
import dev.stasis.operator.admission.Verdict;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.owner.Departure;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import jakarta.inject.Singleton;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * Holds the eviction of a protected pod until it is saved. Whoever evicts is told to ask again
 * (429), as a PodDisruptionBudget would tell him.
 */
@Singleton
class EvictionHook implements AdmissionHook {

  /** More often nobody needs to know when it was asked for last. */
  private static final Duration NOTED_EVERY = Duration.ofSeconds(5);

  private final Cluster cluster;
  private final Attempts attempts;
  private final Guards guards;
  private final PodWrites pods;
  private final Events events;
  private final Clock clock;
  private final Departure departure;
  private final EvictionConfig config;
  private final Decider decider;

  EvictionHook(
      Cluster cluster,
      Attempts attempts,
      Guards guards,
      PodWrites pods,
      Events events,
      Clock clock,
      EvictionConfig config,
      StasisConfig stasis,
      Departure departure) {
    this.departure = departure;
    this.cluster = cluster;
    this.attempts = attempts;
    this.guards = guards;
    this.pods = pods;
    this.events = events;
    this.clock = clock;
    this.config = config;
    this.decider = new Decider(config, stasis.gpuResources());
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
    // An eviction for which another pod was meant is the API server's to refuse.
    Optional<Pod> fresh = pods.fresh(request.getNamespace(), request.getName());
    if (fresh.isEmpty() || !decider.isProtected(fresh.get())) {
      return Verdict.allowed();
    }
    Pod pod = fresh.get();
    if (isDryRun(request)) {
      return Verdict.allowed(
          "pod " + request.getName() + " is protected: its eviction would wait until it is saved");
    }
    List<Attempt> made = attempts.of(pod);
    Instant now = clock.instant();
    Answer answer =
        decider.answer(
            new Decider.Sight(
                pod,
                made,
                made.isEmpty() ? Optional.empty() : attempts.freeze(made.get(made.size() - 1)),
                now));
    return carryOut(answer, pod, made, now);
  }

  private Verdict carryOut(Answer answer, Pod pod, List<Attempt> made, Instant now) {
    if (answer instanceof Answer.Begin begin) {
      return begin(begin, pod, made, now);
    } else if (answer instanceof Answer.Hold hold) {
      if (!now.isBefore(hold.attempt().requested().plus(NOTED_EVERY))) {
        attempts.requested(hold.attempt(), now);
      }
      return new Verdict.NotNow(hold.sentence());
    } else if (answer instanceof Answer.LetGo letGo) {
      Optional<String> against = departure.prepare(pod);
      if (against.isPresent()) {
        attempts.requested(letGo.attempt(), now);
        return new Verdict.NotNow(against.get());
      }
      if (!attempts.claim(letGo.attempt(), now)) {
        return new Verdict.NotNow(
            "pod " + pod.getMetadata().getName() + " is being looked at; asked again it is clear");
      }
      guards.leave(pod.getMetadata().getNamespace(), pod.getMetadata().getUid());
      return Verdict.allowed();
    } else if (answer instanceof Answer.GiveWay giveWay) {
      guards.leave(pod.getMetadata().getNamespace(), pod.getMetadata().getUid());
      events.tell(
          Story.warning(pod, Reason.EVICTED_UNSAVED, giveWay.sentence(), giveWay.occasion()));
      return Verdict.allowed(giveWay.sentence());
    }
    return Verdict.allowed();
  }

  private Verdict begin(Answer.Begin begin, Pod pod, List<Attempt> made, Instant now) {
    String name = pod.getMetadata().getName();
    boolean first = made.isEmpty() || begin.since().equals(now);
    Optional<String> refusal = first ? guards.refusal(pod) : Optional.empty();
    if (refusal.isPresent()) {
      // Frozen for nothing: the eviction would be refused all the same.
      return new Verdict.NotNow(refusal.get());
    }
    Instant end = begin.since().plus(Attempt.deadline(pod, config));
    attempts.since(pod, begin.since());
    Optional<GpuCheckpoint> attempt =
        attempts.begin(pod, begin.number(), begin.since(), now, Duration.between(now, end));
    attempt.ifPresent(
        checkpoint -> {
          guards.stand(pod, checkpoint);
          String sentence =
              "is saved by GpuCheckpoint "
                  + checkpoint.getMetadata().getName()
                  + " before it is evicted";
          events.tell(
              Story.normal(pod, Reason.SAVED_FIRST, sentence, checkpoint.getMetadata().getName()));
        });
    return new Verdict.NotNow(
        "pod %s is saved by GpuCheckpoint %s before it is evicted; evicted anyway at %s"
            .formatted(
                name,
                attempt
                    .map(checkpoint -> checkpoint.getMetadata().getName())
                    .orElseGet(() -> Attempt.name(pod, begin.number())),
                end.truncatedTo(ChronoUnit.SECONDS)));
  }

  /** By the request, or by the options of the deletion that the eviction carries. */
  private static boolean isDryRun(AdmissionRequest request) {
    boolean ofDeletion =
        request.getObject() instanceof Eviction eviction
            && eviction.getDeleteOptions() != null
            && eviction.getDeleteOptions().getDryRun() != null
            && !eviction.getDeleteOptions().getDryRun().isEmpty();
    return Boolean.TRUE.equals(request.getDryRun()) || ofDeletion;
  }
}
