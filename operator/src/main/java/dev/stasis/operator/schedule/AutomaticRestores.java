package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.event.EventRecorder;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.request.RequestWrites;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Restores failed pods: writes each decision into the status first, then carries it out. */
final class AutomaticRestores {

  private final Cluster cluster;
  private final LostNodes lostNodes;
  private final FailureRecovery recovery;
  private final ScheduleStatusUpdater statusUpdater = new ScheduleStatusUpdater();
  private final RequestWrites writes;
  private final Function<Pod, Optional<String>> handOver;
  private final EventRecorder events;
  private final Duration pollInterval;

  /**
   * @param handOver prepares a controller for the deletion of its pod, and returns what that waits
   *     for. Empty means that the pod may be deleted, and the controller's next pod becomes the
   *     target
   * @param pollInterval for states that emit no event
   */
  AutomaticRestores(
      Cluster cluster,
      GpuPods gpus,
      MovedPods movedPods,
      RequestWrites writes,
      Function<Pod, Optional<String>> handOver,
      EventRecorder events,
      Duration pollInterval) {
    this.cluster = cluster;
    this.lostNodes = new LostNodes(cluster);
    this.recovery = new FailureRecovery(new PodFailureDetector(gpus), lostNodes, movedPods);
    this.writes = writes;
    this.handOver = handOver;
    this.events = events;
    this.pollInterval = pollInterval;
  }

  /**
   * Writes decisions about failed pods into the status, as far as it has room for them; returns
   * whether there are any.
   */
  boolean decide(ScheduleState state) {
    boolean decided = false;
    long room = statusUpdater.room(state);
    for (FailureRecovery.Decision decision : recovery.decide(state)) {
      if (decision instanceof FailureRecovery.Restore restore) {
        if (room > 0 && add(state, restore)) {
          decided = true;
          room--;
        }
      } else if (decision instanceof FailureRecovery.Leave leave) {
        PodFailure failure = leave.failure();
        warn(
            state,
            failure,
            Reason.NOT_BROUGHT_BACK,
            failure.sentence() + "; it is not restored: " + leave.reason(),
            leave.occasion());
      }
    }
    return decided;
  }

  private boolean add(ScheduleState state, FailureRecovery.Restore decision) {
    PodFailure failure = decision.failure();
    ScheduledCheckpoint from = decision.from();
    String name = new RestoreName(state.name(), failure.podUid(), from.name()).text();
    if (state.restore(name).isPresent()) {
      // It has ended, and newer ones have its place in the status.
      return false;
    }
    statusUpdater.add(
        state,
        new AutomaticRestore(
            name,
            from.name(),
            failure.podName(),
            failure.podUid(),
            node(state, failure),
            failure.time(),
            failure.reason().value(),
            decision.skipped().isEmpty() ? null : decision.skipped(),
            null));
    for (String skipped : decision.skipped()) {
      events.warning(state.schedule(), Reason.CHECKPOINT_SKIPPED, skipped, name + skipped);
    }
    warn(
        state,
        failure,
        Reason.BRINGING_BACK,
        "%s; it is restored from %s of %s by GpuRestore %s"
            .formatted(failure.sentence(), from.name(), from.frozen(), name),
        name);
    return true;
  }

  private void warn(
      ScheduleState state, PodFailure failure, Reason reason, String sentence, String occasion) {
    events.warning(failure.pod(), reason, sentence, occasion);
    events.warning(
        state.schedule(), reason, "pod " + failure.podName() + ": " + sentence, occasion);
  }

  /**
   * Carries out the decisions in the status.
   *
   * @return the interval for polling states that emit no event; empty if there are none
   */
  Optional<Duration> carryOut(ScheduleState state, Report report) {
    return state.automaticRestores().stream()
        .filter(restore -> isOpen(state, restore))
        .flatMap(restore -> carryOut(state, restore, report).stream())
        .min(Comparator.naturalOrder());
  }

  /** The GpuRestore of a controller's pod exists before that pod is deleted. */
  private boolean isOpen(ScheduleState state, AutomaticRestore restore) {
    return restore.phase() == null
        || (!restore.phase().isFinal()
            && cluster
                .pod(state.namespace(), restore.pod())
                .filter(it -> isFailedPod(it, restore))
                .isPresent());
  }

  /** Deletes what is left of the pod, then restores it under its name. */
  private Optional<Duration> carryOut(
      ScheduleState state, AutomaticRestore restore, Report report) {
    Optional<Pod> named = cluster.pod(state.namespace(), restore.pod());
    if (named.isEmpty()) {
      return restoreUnlessRunning(state, restore, report);
    }
    Pod pod = named.get();
    PodState podState = new PodState(pod);
    boolean force = Reason.NODE_LOST.value().equals(restore.reason());
    if (isFailedPod(pod, restore)) {
      if (Owners.of(pod).isPresent()) {
        return handOver(state, restore, pod, report);
      }
      if (!podState.isBeingDeleted() || force) {
        writes.deletePod(pod, force);
      }
      return Optional.of(pollInterval);
    }
    if (isTarget(pod, restore)) {
      // A StatefulSet's next pod has the name of the failed one.
      statusUpdater.set(state, restore, RestorePhase.PENDING);
      return Optional.empty();
    }
    if (podState.isBeingDeleted() || podState.isWaitingTarget()) {
      // For example the target of a restore that has just failed.
      return waiting(restore, "another pod of its name is being deleted", report);
    }
    events.warning(
        state.schedule(),
        Reason.NOT_BROUGHT_BACK,
        "pod " + restore.pod() + " is not restored: another pod has its name",
        restore.restore());
    statusUpdater.set(state, restore, RestorePhase.CANCELLED);
    return Optional.empty();
  }

  private Optional<Duration> restoreUnlessRunning(
      ScheduleState state, AutomaticRestore restore, Report report) {
    boolean unseen = Reason.POD_DISRUPTED.value().equals(restore.reason());
    Optional<String> running =
        Reason.NODE_LOST.value().equals(restore.reason())
            ? Optional.empty()
            : lastNode(state, restore)
                .flatMap(node -> lostNodes.mayStillRun(node, unseen, state.now()));
    if (running.isPresent()) {
      return waiting(restore, running.get(), report);
    }
    Optional<String> refusal =
        writes.create(new ScheduleRequests(state.schedule()).restore(restore));
    if (refusal.isPresent()) {
      return refused(restore, refusal.get(), report);
    }
    statusUpdater.set(state, restore, RestorePhase.PENDING);
    return Optional.empty();
  }

  /** Creates the GpuRestore first, which makes the controller's next pod the target. */
  private Optional<Duration> handOver(
      ScheduleState state, AutomaticRestore restore, Pod pod, Report report) {
    Optional<String> refusal =
        state.restore(restore.restore()).isPresent()
            ? Optional.empty()
            : writes.create(new ScheduleRequests(state.schedule()).restore(restore));
    if (refusal.isPresent()) {
      return refused(restore, refusal.get(), report);
    }
    Optional<String> waits = handOver.apply(pod);
    if (waits.isPresent()) {
      waiting(restore, waits.get(), report);
    } else if (!new PodState(pod).isBeingDeleted()) {
      writes.deletePod(pod, false);
    }
    // Each attempt is a request to the API server.
    return Optional.of(
        new Backoff(pollInterval, Backoff.FROZEN).after(restore.time(), state.now()));
  }

  /** The other pods are restored, and this one when the API server accepts its GpuRestore. */
  private Optional<Duration> refused(AutomaticRestore restore, String why, Report report) {
    return waiting(restore, "GpuRestore " + restore.restore() + " is refused: " + why, report);
  }

  private Optional<Duration> waiting(AutomaticRestore restore, String why, Report report) {
    report.working(Reason.BRINGING_BACK, "pod " + restore.pod() + " waits: " + why);
    return Optional.of(pollInterval);
  }

  private static boolean isFailedPod(Pod pod, AutomaticRestore restore) {
    return pod.getMetadata().getUid().equals(restore.podUid());
  }

  private static boolean isTarget(Pod pod, AutomaticRestore restore) {
    return restore.checkpoint().equals(Marks.labels(pod).get(Api.CHECKPOINT_LABEL));
  }

  /** A decision has no node if an earlier build wrote it, or the CRD is of one. */
  private static Optional<String> lastNode(ScheduleState state, AutomaticRestore restore) {
    return Optional.ofNullable(restore.node())
        .or(
            () ->
                state.deletedPods().stream()
                    .filter(pod -> isFailedPod(pod, restore))
                    .findFirst()
                    .map(pod -> pod.getSpec().getNodeName()))
        .or(
            () ->
                state.checkpoints().stream()
                    .filter(checkpoint -> checkpoint.name().equals(restore.checkpoint()))
                    .findFirst()
                    .map(checkpoint -> checkpoint.status().getPod())
                    .map(it -> it.node()));
  }

  /** The pod of a restore that has failed may be gone. */
  private static @Nullable String node(ScheduleState state, PodFailure failure) {
    PodSpec spec = failure.pod().getSpec();
    return spec != null
        ? spec.getNodeName()
        : state.automaticRestores().stream()
            .filter(tried -> failure.podUid().equals(tried.podUid()))
            .map(AutomaticRestore::node)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
  }
}
