package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Decides which failed pods are restored, and from which checkpoint. */
final class FailureRecovery {

  /** Reasons of a failed restore for which an older checkpoint may still be intact. */
  private static final Set<String> DAMAGED =
      Set.of(
          "ArtifactRefused",
          // A damaged chunk is detected when it is read.
          "RegionMove",
          "LayerFailed",
          Reason.ARTIFACT_LOST.value(),
          Reason.ARTIFACT_DAMAGED.value(),
          Reason.NO_ARTIFACT.value(),
          Reason.STORE_NOT_FOUND.value());

  private static final Set<RestorePhase> BACK =
      Set.of(RestorePhase.SUCCEEDED, RestorePhase.COLD_STARTED);

  private final PodFailureDetector failures;
  private final LostNodes lostNodes;
  private final MovedPods movedPods;

  FailureRecovery(PodFailureDetector failures, LostNodes lostNodes, MovedPods movedPods) {
    this.failures = failures;
    this.lostNodes = lostNodes;
    this.movedPods = movedPods;
  }

  /** The decision about a failed pod. */
  sealed interface Decision {
    PodFailure failure();
  }

  /**
   * The pod is restored. This is written into the status before any action.
   *
   * @param from the checkpoint to restore
   * @param skipped newer checkpoints, each with the reason for skipping it
   */
  record Restore(PodFailure failure, ScheduledCheckpoint from, List<String> skipped)
      implements Decision {}

  /**
   * The pod is not restored, for that reason.
   *
   * @param awaited GpuRestore of a user that has not ended; empty if none is awaited
   */
  record Leave(PodFailure failure, String reason, String awaited) implements Decision {
    private Leave(PodFailure failure, String reason) {
      this(failure, reason, "");
    }

    /** Returns the key by which an event reports it only once. */
    String occasion() {
      return "left/" + failure.podUid() + failure.earliest() + awaited;
    }
  }

  /** Returns decisions about failed pods without one in the status. */
  List<Decision> decide(ScheduleState state) {
    RestoreOnFailure policy = state.spec().getRestoreOnFailure();
    if (policy == null) {
      return List.of();
    }
    Set<String> seen = new HashSet<>();
    Stream<PodFailure> failed =
        Stream.concat(state.deletedPods().stream(), state.pods().stream())
            .flatMap(
                pod ->
                    failures
                        .detect(pod, state.now())
                        .or(() -> lostNodes.of(pod, policy, state.now()))
                        .stream());
    return Stream.concat(failed, failedRestores(state))
        .filter(failure -> seen.add(failure.podUid()))
        .filter(failure -> !movedPods.contains(failure.pod()))
        .flatMap(failure -> decide(state, policy, failure).stream())
        .toList();
  }

  /** The pods themselves are gone, and this operator may never have seen them. */
  private static Stream<PodFailure> failedRestores(ScheduleState state) {
    return state.automaticRestores().stream()
        .filter(tried -> tried.phase() == RestorePhase.FAILED)
        .map(
            tried ->
                new PodFailure(
                    new PodBuilder()
                        .withNewMetadata()
                        .withNamespace(state.namespace())
                        .withName(tried.pod())
                        .withUid(tried.podUid())
                        .addToAnnotations(Api.FORMER_PODS_ANNOTATION, formerPods(state, tried))
                        .endMetadata()
                        .build(),
                    tried.time(),
                    Stream.of(Reason.values())
                        .filter(reason -> reason.value().equals(tried.reason()))
                        .findFirst()
                        .orElse(Reason.RESTORE_FAILED),
                    "the artifact of " + tried.checkpoint() + " is damaged"));
  }

  /** At least those of the checkpoint that was tried. */
  private static String formerPods(ScheduleState state, AutomaticRestore tried) {
    return state.checkpoints().stream()
        .filter(checkpoint -> checkpoint.name().equals(tried.checkpoint()))
        .map(checkpoint -> checkpoint.formerPodsAfter().text())
        .findFirst()
        .orElse("");
  }

  private Optional<Decision> decide(
      ScheduleState state, RestoreOnFailure policy, PodFailure failure) {
    List<AutomaticRestore> tried =
        state.automaticRestores().stream()
            .filter(it -> failure.podUid().equals(it.podUid()))
            .toList();
    if (!tried.isEmpty() && !foundDamage(state, tried.get(0))) {
      return Optional.empty();
    }
    Lineage lineage = Lineage.of(failure.pod());
    List<ScheduledCheckpoint> own = state.checkpoints().stream().filter(lineage::has).toList();
    if (tried.isEmpty()) {
      if (own.isEmpty() || isSurvived(failure, own)) {
        return Optional.empty();
      }
      Optional<GpuRestore> elsewhere = restoredElsewhere(state, failure, lineage);
      if (elsewhere.isPresent()) {
        return elsewhere
            .filter(restore -> schedule(restore).isEmpty())
            .map(restore -> restoredBy(failure, restore));
      }
    }
    Optional<String> refusal = ofController(failure);
    if (refusal.isEmpty() && tried.isEmpty() && isBeyondLimit(state, policy, failure)) {
      refusal =
          Optional.of(
              "restoreOnFailure: limit of %d restores in %s reached"
                  .formatted(policy.getMaxRestores(), policy.getWindow()));
    }
    return Optional.of(
        refusal
            .<Decision>map(reason -> new Leave(failure, reason))
            .orElseGet(() -> newestIntact(state, failure, own, tried)));
  }

  /**
   * The same state may be one of several failed copies. Its user restores the others. A GpuRestore
   * may wait for a node without end.
   */
  private static Leave restoredBy(PodFailure failure, GpuRestore restore) {
    String name = restore.getMetadata().getName();
    String checkpoint = restore.getSpec().checkpointName();
    return ScheduleState.phase(restore).isFinal()
        ? new Leave(
            failure,
            "a user has restored GpuCheckpoint %s since, with GpuRestore %s"
                .formatted(checkpoint, name))
        : new Leave(
            failure,
            "a user restores GpuCheckpoint %s, with GpuRestore %s, which has not ended"
                .formatted(checkpoint, name),
            name);
  }

  private static Decision newestIntact(
      ScheduleState state,
      PodFailure failure,
      List<ScheduledCheckpoint> own,
      List<AutomaticRestore> tried) {
    List<ScheduledCheckpoint> newestFirst =
        own.stream()
            .filter(checkpoint -> checkpoint.ready().isPresent())
            .sorted(ScheduledCheckpoint.OLDEST_FIRST.reversed())
            .toList();
    Set<String> damaged =
        tried.stream().map(AutomaticRestore::checkpoint).collect(Collectors.toSet());
    List<String> skipped = new ArrayList<>();
    for (ScheduledCheckpoint checkpoint : newestFirst) {
      Optional<String> obstacle = obstacle(state, checkpoint, damaged);
      if (obstacle.isEmpty()) {
        return new Restore(failure, checkpoint, List.copyOf(skipped));
      }
      skipped.add(checkpoint.name() + ": " + obstacle.get());
    }
    return new Leave(
        failure,
        skipped.isEmpty()
            ? "none of its checkpoints is Ready"
            : "none of its checkpoints can be restored: " + String.join("; ", skipped));
  }

  private static Optional<String> obstacle(
      ScheduleState state, ScheduledCheckpoint checkpoint, Set<String> damaged) {
    if (damaged.contains(checkpoint.name()) || checkpoint.isDamaged()) {
      return Optional.of("damaged");
    }
    if (!checkpoint.isPortable()) {
      return Optional.of(Reason.NOT_PORTABLE.value());
    }
    return checkpoint.isRestorable()
        ? state.unreadable(checkpoint)
        : Optional.of(
            checkpoint.condition().map(it -> it.reason()).orElse(Reason.NO_ARTIFACT.value()));
  }

  private static boolean foundDamage(ScheduleState state, AutomaticRestore tried) {
    List<Fault> faults =
        state
            .restore(tried.restore())
            .map(GpuRestore::getStatus)
            .map(GpuRestoreStatus::getFaults)
            .orElse(List.of());
    return tried.phase() == RestorePhase.FAILED
        && faults.stream().anyMatch(fault -> DAMAGED.contains(fault.reason()));
  }

  /**
   * Returns whether a checkpoint has a state later than the failure. Times have a resolution of one
   * second, and no container is restarted and frozen within a second, so a freeze in the second of
   * the failure was before it.
   */
  private static boolean isSurvived(PodFailure failure, List<ScheduledCheckpoint> own) {
    return failure.reason() == Reason.CONTAINER_RESTARTED
        && own.stream()
            .filter(ScheduledCheckpoint::isRestorable)
            .anyMatch(checkpoint -> checkpoint.frozen().isAfter(failure.time()));
  }

  /**
   * Returns the GpuRestore with which a user restores it from any GpuCheckpoint, or has restored it
   * since the failure. The failed pod may have been left, and remain beside the restored one.
   */
  private Optional<GpuRestore> restoredElsewhere(
      ScheduleState state, PodFailure failure, Lineage lineage) {
    // A user may have continued the workload from a state after the restored one.
    Set<String> names =
        state.checkpoints().stream()
            .filter(checkpoint -> lineage.podUids().contains(checkpoint.podUid()))
            .map(ScheduledCheckpoint::name)
            .collect(Collectors.toSet());
    List<GpuRestore> restores =
        state.restores().values().stream()
            .filter(restore -> names.contains(restore.getSpec().checkpointName()))
            .filter(restore -> !isOfAnotherPod(restore, failure))
            .toList();
    return restores.stream()
        .filter(restore -> !ScheduleState.phase(restore).isFinal())
        .findFirst()
        .or(
            () ->
                Stream.concat(restores.stream(), movedPods.restoresOf(failure.pod()))
                    .filter(restore -> !isOfAnotherPod(restore, failure))
                    .filter(restore -> isBack(restore, failure.earliest()))
                    .findFirst());
  }

  /**
   * Returns whether a schedule restores another failed pod with it: a copy with the same states, or
   * the source of this copy. Each of them is restored.
   */
  private static boolean isOfAnotherPod(GpuRestore restore, PodFailure failure) {
    String target =
        Optional.ofNullable(restore.getStatus())
            .map(GpuRestoreStatus::getPod)
            .map(ObservedPod::uid)
            .orElse("");
    return schedule(restore)
        .map(it -> new RestoreName(it, failure.podUid(), restore.getSpec().checkpointName()))
        .filter(own -> !own.text().equals(restore.getMetadata().getName()))
        .filter(own -> !target.equals(failure.podUid()))
        .isPresent();
  }

  /** Returns the schedule that created it; empty if a user did. */
  private static Optional<String> schedule(GpuRestore restore) {
    return Marks.label(restore, Api.SCHEDULE_LABEL);
  }

  /** Returns whether it was requested after that time, and has restored the pod or may do so. */
  private static boolean isBack(GpuRestore restore, Instant since) {
    RestorePhase phase = ScheduleState.phase(restore);
    return (!phase.isFinal() || BACK.contains(phase))
        && Instant.parse(restore.getMetadata().getCreationTimestamp()).isAfter(since);
  }

  private static boolean isBeyondLimit(
      ScheduleState state, RestoreOnFailure policy, PodFailure failure) {
    Instant since = state.now().minus(policy.getWindow().duration());
    return state.automaticRestores().stream()
            .filter(it -> it.pod().equals(failure.podName()) && it.time().isAfter(since))
            .map(AutomaticRestore::podUid)
            .distinct()
            .count()
        >= policy.getMaxRestores();
  }

  /** A controller's next pod can become the target only while it does not exist yet. */
  private static Optional<String> ofController(PodFailure failure) {
    return Owners.of(failure.pod())
        .filter(
            owner -> !Owners.canHandOver(owner) || failure.reason() != Reason.CONTAINER_RESTARTED)
        .map(
            owner ->
                ("%s %s creates another pod in its place; only pods without a controller, and"
                        + " pods of a ReplicaSet, StatefulSet or Job that still exist, are"
                        + " restored")
                    .formatted(owner.getKind(), owner.getName()));
  }
}
