package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.api.v1alpha1.restore.RestorePhase;
import dev.stasis.api.v1alpha1.schedule.AutomaticRestore;
import dev.stasis.api.v1alpha1.schedule.ScheduledRun;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.event.Events;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** One look at one schedule, and what follows from it. */
final class Turn {

  private final Cluster cluster;
  private final Keeping keeping = new Keeping();
  private final Runs runs = new Runs();
  private final Bookkeeping books = new Bookkeeping(keeping);
  private final Comebacks comebacks;
  private final Lost lost;
  private final Deeds deeds;
  private final Events events;

  Turn(Cluster cluster, GpuPods gpus, Deeds deeds, Events events) {
    this.cluster = cluster;
    this.lost = new Lost(cluster);
    this.comebacks = new Comebacks(new Failures(gpus), lost);
    this.deeds = deeds;
    this.events = events;
  }

  /**
   * When to look again.
   *
   * @param next the next time at which something is due; empty: none is known
   * @param atOnce whether something was written down that is now to be done
   * @param waits whether something is waited for that tells nobody of its end
   */
  record Outcome(Optional<Instant> next, boolean atOnce, boolean waits) {}

  Outcome take(GpuCheckpointSchedule schedule, Observer observer, Report report, Instant now) {
    View view;
    try {
      view = observer.look(schedule, now);
    } catch (IllegalArgumentException e) {
      invalid(schedule, report, Reason.INVALID_SELECTOR, e);
      return new Outcome(Optional.empty(), false, false);
    }
    Optional<CronTimes> times = times(view, report);
    Optional<Runs.Plan> plan = times.map(it -> runs.plan(view, it));
    plan.ifPresent(it -> begin(view, it));
    books.runs(view, plan);
    for (Taken taken : keeping.excess(view)) {
      deeds.delete(taken);
      tell(
          view,
          false,
          Reason.RETENTION,
          taken.name() + " is deleted, as retention says",
          taken.name());
    }
    books.follow(view);
    boolean written = false;
    for (Comebacks.Next next : comebacks.next(view)) {
      written |= decided(view, next);
    }
    times.ifPresent(it -> summarise(view, plan.orElseThrow(), observer, report));
    boolean waits = false;
    for (AutomaticRestore back : view.broughtBack()) {
      waits |= !written && isToBegin(view, back) && bring(view, back, report);
    }
    Optional<Instant> soonest =
        Stream.of(
                plan.flatMap(Runs.Plan::next),
                plan.flatMap(Runs.Plan::lookAgain),
                keeping.nextExpiry(view))
            .flatMap(Optional::stream)
            .min(Comparator.naturalOrder());
    return new Outcome(soonest, written, waits);
  }

  private Optional<CronTimes> times(View view, Report report) {
    try {
      CronTimes times = CronTimes.of(view.spec().getSchedule(), view.spec().getTimeZone());
      if (times.nextAfter(view.now()).isEmpty()) {
        throw new IllegalArgumentException(
            "schedule: wanted a time that comes, found \"" + view.spec().getSchedule() + "\"");
      }
      return Optional.of(times);
    } catch (IllegalArgumentException e) {
      invalid(view.schedule(), report, Reason.INVALID_SCHEDULE, e);
      return Optional.empty();
    }
  }

  private void invalid(
      GpuCheckpointSchedule schedule, Report report, Reason reason, IllegalArgumentException e) {
    String sentence = String.valueOf(e.getMessage());
    report.notReached(reason, sentence);
    events.tell(
        Story.warning(
            schedule, reason, sentence, "invalid/" + schedule.getMetadata().getGeneration()));
  }

  private void begin(View view, Runs.Plan plan) {
    plan.replaced().forEach(deeds::cancel);
    for (Runs.Begin run : plan.begin()) {
      deeds.begin(view.schedule(), run);
      tell(
          view,
          false,
          Reason.RUN_BEGUN,
          "GpuCheckpoint %s of pod %s, due at %s"
              .formatted(run.checkpoint(), run.pod().getMetadata().getName(), run.due()),
          run.checkpoint());
    }
    for (ScheduledRun run : plan.skipped()) {
      String why =
          Reason.DEADLINE_EXCEEDED.word().equals(run.reason())
              ? "it is later than startingDeadlineSeconds allows"
              : "the last one is still at work";
      tell(
          view,
          true,
          Reason.RUN_SKIPPED,
          "run of pod %s, due at %s: %s".formatted(run.pod(), run.time(), why),
          run.pod() + run.time());
    }
  }

  private static void summarise(View view, Runs.Plan plan, Observer observer, Report report) {
    if (Boolean.TRUE.equals(view.spec().getSuspend())) {
      report.notReached(Reason.NOT_SCHEDULED, "no runs: spec.suspend is true");
    } else if (view.pods().isEmpty()) {
      report.working(
          Reason.NO_POD_MATCHES,
          "selector: wanted pods with GPUs in namespace %s, found none among its %d pods"
              .formatted(view.namespace(), observer.pods(view.namespace())));
    } else {
      report.done(
          Reason.SCHEDULED,
          "%d pods, the next run at %s"
              .formatted(view.pods().size(), plan.next().map(Instant::toString).orElse("never")));
    }
  }

  /** Writes down what is to be done about a failed pod; whether there is anything. */
  private boolean decided(View view, Comebacks.Next next) {
    Failure failure = next.failure();
    if (next instanceof Comebacks.Leave leave) {
      String sentence = failure.sentence() + "; it is not brought back: " + leave.why();
      String occasion = "left/" + failure.podUid() + failure.time();
      events.tell(Story.warning(failure.pod(), Reason.NOT_BROUGHT_BACK, sentence, occasion));
      tell(
          view,
          true,
          Reason.NOT_BROUGHT_BACK,
          "pod " + failure.podName() + ": " + sentence,
          occasion);
      return false;
    }
    Comebacks.Bring bring = (Comebacks.Bring) next;
    String name =
        view.name()
            + "-"
            + new Suffix("restore/" + failure.podUid() + "/" + bring.from().name()).text();
    books.add(
        view,
        new AutomaticRestore(
            name,
            bring.from().name(),
            failure.podName(),
            failure.podUid(),
            failure.time(),
            failure.reason().word(),
            bring.skipped().isEmpty() ? null : bring.skipped(),
            null));
    for (String skipped : bring.skipped()) {
      tell(view, true, Reason.CHECKPOINT_SKIPPED, skipped, name + skipped);
    }
    String sentence =
        "%s; it is brought back from %s of %s by GpuRestore %s"
            .formatted(failure.sentence(), bring.from().name(), bring.from().frozen(), name);
    events.tell(Story.warning(failure.pod(), Reason.BRINGING_BACK, sentence, name));
    tell(view, true, Reason.BRINGING_BACK, "pod " + failure.podName() + ": " + sentence, name);
    return true;
  }

  /** The restore of a controller's pod is there before that pod goes. */
  private boolean isToBegin(View view, AutomaticRestore back) {
    return back.phase() == null
        || (!back.phase().isFinal()
            && cluster.pod(view.namespace(), back.pod()).filter(it -> is(it, back)).isPresent());
  }

  /** Removes what is left of the pod, then has it restored; whether it has to wait. */
  private boolean bring(View view, AutomaticRestore back, Report report) {
    Optional<Pod> pod = cluster.pod(view.namespace(), back.pod());
    boolean given = Reason.NODE_LOST.word().equals(back.reason());
    boolean isFailed = pod.filter(it -> is(it, back)).isPresent();
    if (isFailed && Owners.of(pod.get()).isPresent()) {
      return handOver(view, back, pod.get(), report);
    }
    if (pod.isPresent() && !isFailed && isTarget(pod.get(), back)) {
      // A StatefulSet's has the name of the one that failed.
      books.set(view, back, RestorePhase.PENDING);
      return false;
    }
    if (pod.isPresent() && !isFailed && isLeaving(pod.get())) {
      report.working(Reason.BRINGING_BACK, "pod " + back.pod() + " waits for its name");
      return true;
    }
    if (pod.isPresent() && !isFailed) {
      String sentence = "pod " + back.pod() + " is not brought back: another one has its name";
      tell(view, true, Reason.NOT_BROUGHT_BACK, sentence, back.restore());
      books.set(view, back, RestorePhase.CANCELLED);
      return false;
    }
    if (pod.isPresent()) {
      if (pod.get().getMetadata().getDeletionTimestamp() == null || given) {
        deeds.remove(pod.get(), given);
      }
      return true;
    }
    Optional<String> running =
        given ? Optional.empty() : node(view, back).flatMap(node -> running(view, back, node));
    if (running.isPresent()) {
      report.working(Reason.BRINGING_BACK, "pod " + back.pod() + " waits: " + running.get());
      return true;
    }
    deeds.restore(view.schedule(), back);
    books.set(view, back, RestorePhase.PENDING);
    return false;
  }

  /** The restore first: by it the next pod of the controller is known for the target. */
  private boolean handOver(View view, AutomaticRestore back, Pod pod, Report report) {
    deeds.restore(view.schedule(), back);
    Optional<String> waits = deeds.depart(pod);
    if (waits.isPresent()) {
      report.working(Reason.BRINGING_BACK, "pod " + back.pod() + " waits: " + waits.get());
    } else if (pod.getMetadata().getDeletionTimestamp() == null) {
      deeds.remove(pod, false);
    }
    return true;
  }

  private static boolean is(Pod pod, AutomaticRestore back) {
    return pod.getMetadata().getUid().equals(back.podUid());
  }

  /** Such as the target of a restore that has just failed. */
  private static boolean isLeaving(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() != null || Failures.isWaitingTarget(pod);
  }

  private static boolean isTarget(Pod pod, AutomaticRestore back) {
    return pod.getMetadata().getLabels() != null
        && back.checkpoint().equals(pod.getMetadata().getLabels().get(Api.CHECKPOINT_LABEL));
  }

  private Optional<String> running(View view, AutomaticRestore back, String node) {
    boolean unseen = Reason.POD_DISRUPTED.word().equals(back.reason());
    return lost.mayStillRun(node, unseen, view.now());
  }

  /** Where it last was, as far as is known. */
  private static Optional<String> node(View view, AutomaticRestore back) {
    return view.departed().stream()
        .filter(pod -> pod.getMetadata().getUid().equals(back.podUid()))
        .findFirst()
        .map(pod -> pod.getSpec().getNodeName())
        .or(
            () ->
                view.taken().stream()
                    .filter(taken -> taken.name().equals(back.checkpoint()))
                    .findFirst()
                    .flatMap(taken -> Optional.ofNullable(taken.status().getPod()))
                    .map(it -> it.node()));
  }

  private void tell(View view, boolean warning, Reason reason, String message, String occasion) {
    events.tell(new Story(view.schedule(), warning, reason, message, occasion));
  }
}
