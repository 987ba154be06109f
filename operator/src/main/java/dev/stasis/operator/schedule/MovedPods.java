package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.migration.Commitment;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.migration.MigrationStrategy;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.cluster.RecentMap;
import dev.stasis.operator.pod.FormerPods;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Pods whose workload Stasis itself moves or evicts, or a user restores. That request restores the
 * workload, so a schedule that did the same would create a second copy.
 */
final class MovedPods {

  /** Far more than are moved while a deleted pod is remembered. */
  private static final int REMEMBERED = 10_000;

  /**
   * The condition Frozen is written after the freeze, usually within a second. A pod that was
   * copied was thawed before, and is rarely frozen again within a minute.
   */
  private static final Duration NOTED = Duration.ofMinutes(1);

  /** From the freeze on: before it, a request has not touched the pod. */
  private static final Set<MigrationPhase> MOVING =
      Set.of(
          MigrationPhase.FREEZING,
          MigrationPhase.TRANSFERRING,
          MigrationPhase.RESTORING,
          MigrationPhase.VERIFYING,
          MigrationPhase.SWITCHING_OVER);

  private static final Set<CheckpointPhase> EVICTING =
      Set.of(CheckpointPhase.FREEZING, CheckpointPhase.SAVING);

  private final Cluster cluster;

  /** By uid. A request is often deleted as soon as its workload runs again. */
  private final RecentMap<String, Boolean> moved = new RecentMap<>(REMEMBERED);

  MovedPods(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Notes the pod of a migration that has decided for its target. */
  void note(GpuMigration migration) {
    if (hasMoved(migration)) {
      source(migration).ifPresent(uid -> moved.put(uid, true));
    }
  }

  /** Notes an evicted pod. An artifact that was lost since restores nothing. */
  void note(GpuCheckpoint checkpoint) {
    if (!Conditions.of(checkpoint.getStatus()).isEvicted()) {
      return;
    }
    boolean hasArtifact = CurrentPhase.of(checkpoint) == CheckpointPhase.READY;
    uid(checkpoint.getStatus().getPod())
        .ifPresent(
            uid -> {
              if (hasArtifact) {
                moved.put(uid, true);
              } else {
                moved.remove(uid);
              }
            });
  }

  /** Returns whether the workload of the pod was moved or evicted, or is just being. */
  boolean contains(Pod pod) {
    Optional<String> uid = Optional.of(pod.getMetadata().getUid());
    return uid.flatMap(moved::get).isPresent()
        || cluster.migrations().stream()
            .filter(migration -> source(migration).equals(uid))
            .anyMatch(migration -> hasMoved(migration) || isMoving(migration))
        || cluster
            .checkpointsOf(pod.getMetadata().getNamespace(), pod.getMetadata().getName())
            .stream()
            .filter(MovedPods::isEvicting)
            .anyMatch(checkpoint -> uid(checkpoint.getStatus().getPod()).equals(uid))
        || hasSuccessor(pod);
  }

  /**
   * Returns whether the pod is removed while it is frozen, and its workload ran in another pod. The
   * pod of a silent node outlives the request that moved it, and this operator may have started
   * since. A copy of an earlier state is no move. A target that still waits is none either: a
   * migration that is rolled back removes it.
   */
  private boolean hasSuccessor(Pod pod) {
    PodState state = new PodState(pod);
    Optional<Instant> frozen =
        state.frozen().map(PodCondition::getLastTransitionTime).map(Instant::parse);
    return state.isBeingDeleted()
        && frozen.isPresent()
        && cluster.pods(pod.getMetadata().getNamespace()).stream()
            .filter(other -> isSuccessor(other, pod.getMetadata().getUid(), frozen.get()))
            .anyMatch(other -> !new PodState(other).isWaitingTarget());
  }

  private static boolean isSuccessor(Pod other, String uid, Instant frozen) {
    List<FormerPods.FormerPod> former = FormerPods.before(other.getMetadata()).pods();
    boolean isRestoredSince =
        !former.isEmpty()
            && former.get(0).uid().equals(uid)
            && !new PodState(other).since().isBefore(frozen);
    return isRestoredSince
        || former.stream()
            .filter(it -> it.uid().equals(uid))
            .map(FormerPods.FormerPod::until)
            .anyMatch(until -> until == null || !until.isBefore(frozen.minus(NOTED)));
  }

  /** Returns the restores from all GpuCheckpoints of the pod, also of other requesters. */
  Stream<GpuRestore> restoresOf(Pod pod) {
    String namespace = pod.getMetadata().getNamespace();
    Optional<String> uid = Optional.of(pod.getMetadata().getUid());
    return cluster.checkpointsOf(namespace, pod.getMetadata().getName()).stream()
        .filter(checkpoint -> checkpoint.getStatus() != null)
        .filter(checkpoint -> uid(checkpoint.getStatus().getPod()).equals(uid))
        .flatMap(
            checkpoint ->
                cluster.restoresOf(namespace, checkpoint.getMetadata().getName()).stream());
  }

  /** With Recreate, its GpuCheckpoint evicts the pod. */
  private static boolean hasMoved(GpuMigration migration) {
    return migration.getSpec().getStrategy() != MigrationStrategy.RECREATE
        && commitment(migration) != null
        && !isRolledBack(migration);
  }

  private static boolean isMoving(GpuMigration migration) {
    return MOVING.contains(CurrentPhase.of(migration)) && !isRolledBack(migration);
  }

  private static boolean isRolledBack(GpuMigration migration) {
    Commitment commitment = commitment(migration);
    return commitment != null && commitment.decision() == Decision.ROLL_BACK;
  }

  private static @Nullable Commitment commitment(GpuMigration migration) {
    return migration.getStatus() == null ? null : migration.getStatus().getCommitment();
  }

  private static Optional<String> source(GpuMigration migration) {
    return migration.getStatus() == null
        ? Optional.empty()
        : uid(migration.getStatus().getSource());
  }

  private static boolean isEvicting(GpuCheckpoint checkpoint) {
    return checkpoint.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT
        && EVICTING.contains(CurrentPhase.of(checkpoint));
  }

  private static Optional<String> uid(@Nullable ObservedPod pod) {
    return Optional.ofNullable(pod).map(ObservedPod::uid);
  }
}
