package dev.stasis.operator.owner;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.pod.Owners;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.status.BroughtBack;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * A hand-over: the next pod of a controller becomes the target of a restore. It is open from the
 * freeze for the eviction until the workload runs again.
 *
 * @param source its pod at the time of the freeze
 */
public record Handover(GpuCheckpoint checkpoint, OwnerReference owner, Pod source) {

  /** A value of a newer release may be another eviction: its controller's pods wait, too. */
  private static final Set<AfterCheckpoint> MAY_EVICT =
      EnumSet.of(AfterCheckpoint.EVICT, AfterCheckpoint.UNRECOGNIZED);

  private static final Set<RestorePhase> BACK =
      EnumSet.of(RestorePhase.SUCCEEDED, RestorePhase.COLD_STARTED);

  private static final String INDEX = "batch.kubernetes.io/job-completion-index";

  /**
   * Returns the unfinished hand-over of the checkpoint; empty if there is none.
   *
   * @param pods finds a pod by namespace and name
   */
  public static Optional<Handover> open(
      GpuCheckpoint checkpoint,
      Collection<GpuRestore> restores,
      BiFunction<String, String, Optional<Pod>> pods,
      KubernetesSerialization serialization) {
    if (checkpoint.getStatus() == null
        || checkpoint.getStatus().getPodTemplate() == null
        || Boolean.TRUE.equals(checkpoint.getSpec().getOptions().getDryRun())
        || !(checkpoint.getMetadata().getDeletionTimestamp() == null
            ? isBeingEvicted(checkpoint) || isToComeBack(checkpoint, restores)
            : isBeingEvicted(checkpoint) && keepsItsPod(checkpoint, pods))) {
      return Optional.empty();
    }
    Pod source = serialization.convertValue(checkpoint.getStatus().getPodTemplate(), Pod.class);
    return Owners.of(source)
        .filter(Owners::canHandOver)
        .map(owner -> new Handover(checkpoint, owner, source));
  }

  /**
   * Returns whether a checkpoint may have a hand-over, by what is cheap to read: almost none has.
   *
   * @param restores those of the checkpoint
   */
  static boolean isPossible(GpuCheckpoint checkpoint, Collection<GpuRestore> restores) {
    return MAY_EVICT.contains(checkpoint.getSpec().getAfterCheckpoint())
        || !restores.isEmpty()
        || Conditions.of(checkpoint.getStatus()).isEvicted();
  }

  /** Returns whether its pod is being removed, or is about to be. */
  private static boolean isBeingEvicted(GpuCheckpoint checkpoint) {
    CheckpointPhase phase = CurrentPhase.of(checkpoint);
    return MAY_EVICT.contains(checkpoint.getSpec().getAfterCheckpoint())
        && !phase.isFinal()
        && phase != CheckpointPhase.READY;
  }

  /**
   * Returns whether the pod of a deleted checkpoint is to stay. Its workload is thawed, and its Job
   * may have released it: until the Job has it back, a replacement would be a second copy.
   */
  private static boolean keepsItsPod(
      GpuCheckpoint checkpoint, BiFunction<String, String, Optional<Pod>> pods) {
    ObservedPod source = checkpoint.getStatus().getPod();
    return source != null
        && pods.apply(checkpoint.getMetadata().getNamespace(), source.name())
            .filter(pod -> Objects.equals(pod.getMetadata().getUid(), source.uid()))
            .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
            .isPresent();
  }

  private static boolean isToComeBack(GpuCheckpoint checkpoint, Collection<GpuRestore> restores) {
    if (!isRestorable(checkpoint)) {
      return false;
    }
    boolean atWork = restores.stream().anyMatch(restore -> !CurrentPhase.of(restore).isFinal());
    BroughtBack back = new BroughtBack(checkpoint);
    boolean isBack = restores.stream().anyMatch(restore -> back.by(restore, BACK));
    return atWork || (Conditions.of(checkpoint.getStatus()).isEvicted() && !isBack);
  }

  /** Returns whether the artifact exists, so that a target can be created. */
  public boolean isReady() {
    return isRestorable(checkpoint);
  }

  /** A checkpoint that has failed can have a complete artifact, too. */
  private static boolean isRestorable(GpuCheckpoint checkpoint) {
    CheckpointPhase phase = CurrentPhase.of(checkpoint);
    return phase == CheckpointPhase.READY
        || (phase == CheckpointPhase.FAILED
            && Conditions.of(checkpoint.getStatus()).isTrue(ConditionType.READY));
  }

  /** Returns whether that pod replaces the source: it has the same controller and index. */
  public boolean isFor(Pod made) {
    return Owners.of(made).filter(it -> it.getUid().equals(owner.getUid())).isPresent()
        && Marks.annotation(made, INDEX).equals(Marks.annotation(source, INDEX))
        && (!owner.getKind().equals("StatefulSet")
            || Objects.equals(made.getMetadata().getName(), source.getMetadata().getName()));
  }

  public String name() {
    return checkpoint.getMetadata().getName();
  }

  public String uid() {
    return checkpoint.getMetadata().getUid();
  }
}
