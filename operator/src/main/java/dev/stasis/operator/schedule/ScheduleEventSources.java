package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.pod.PodState;
import dev.stasis.operator.selector.Marks;
import dev.stasis.operator.selector.Selector;
import dev.stasis.operator.status.CurrentPhase;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Maps changes of other kinds to schedules. */
final class ScheduleEventSources {

  private static final String BY_NAMESPACE = "schedules-of";

  private final IndexerResourceCache<GpuCheckpointSchedule> schedules;

  ScheduleEventSources(IndexerResourceCache<GpuCheckpointSchedule> schedules) {
    this.schedules = schedules;
    schedules.addIndexers(
        Map.of(BY_NAMESPACE, schedule -> List.of(schedule.getMetadata().getNamespace())));
  }

  /** Most changes of a pod do not affect whether it was created, was deleted or failed. */
  Collection<ResourceID> ofPod(Changed<Pod> change) {
    if (!change.cameOrWent()
        && Objects.equals(
            state(change.before().orElseThrow()), state(change.after().orElseThrow()))) {
      return List.of();
    }
    Pod pod = change.subject();
    return schedules.byIndex(BY_NAMESPACE, pod.getMetadata().getNamespace()).stream()
        .filter(schedule -> matches(schedule, pod) || isNamed(schedule, pod))
        .map(ResourceID::fromResource)
        .toList();
  }

  /**
   * Maps a GpuCheckpoint or GpuRestore by the label of the schedule that created it. If a request
   * that removes or restores a pod fails, any schedule of its namespace may have to restore it.
   */
  <R extends HasMetadata> Collection<ResourceID> ofRequest(Changed<R> change) {
    R request = change.subject();
    String namespace = request.getMetadata().getNamespace();
    Map<String, String> labels = Marks.labels(request);
    boolean same =
        !change.cameOrWent()
            && state(change.before().orElseThrow()).equals(state(change.after().orElseThrow()));
    if (same) {
      return List.of();
    }
    if (labels.containsKey(Api.EVICTION_LABEL) || removesItsPod(request) || isGivenUp(change)) {
      return schedules.byIndex(BY_NAMESPACE, namespace).stream()
          .map(ResourceID::fromResource)
          .toList();
    }
    String schedule = labels.get(Api.SCHEDULE_LABEL);
    return schedule == null ? List.of() : List.of(new ResourceID(schedule, namespace));
  }

  private static boolean removesItsPod(HasMetadata request) {
    return request instanceof GpuMigration
        || (request instanceof GpuCheckpoint checkpoint
            && checkpoint.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT);
  }

  /** Returns whether a GpuRestore ended, or was deleted, before it restored its pod. */
  private static boolean isGivenUp(Changed<? extends HasMetadata> change) {
    if (!(change.subject() instanceof GpuRestore restore)) {
      return false;
    }
    RestorePhase phase = CurrentPhase.of(restore);
    return phase == RestorePhase.FAILED
        || phase == RestorePhase.CANCELLED
        || (change.after().isEmpty() && !phase.isFinal());
  }

  /** Ignores progress, which an agent reports every second. */
  private static Object state(HasMetadata request) {
    String going = Objects.requireNonNullElse(request.getMetadata().getDeletionTimestamp(), "");
    if (request instanceof GpuCheckpoint checkpoint && checkpoint.getStatus() != null) {
      GpuCheckpointStatus status = checkpoint.getStatus();
      ArtifactStatus artifact = status.getArtifact();
      return Arrays.asList(
          going,
          status.getPhase(),
          status.getConditions(),
          artifact == null ? null : artifact.getBytes(),
          artifact == null ? null : artifact.getNode());
    }
    if (request instanceof GpuRestore restore && restore.getStatus() != null) {
      return Arrays.asList(
          going, restore.getStatus().getPhase(), restore.getStatus().getConditions());
    }
    if (request instanceof GpuMigration migration) {
      return List.of(going, CurrentPhase.of(migration).isFinal());
    }
    return going;
  }

  private static Object state(Pod pod) {
    if (pod.getStatus() == null) {
      return "";
    }
    return List.of(
        Objects.requireNonNullElse(pod.getStatus().getPhase(), ""),
        Objects.requireNonNullElse(pod.getMetadata().getDeletionTimestamp(), ""),
        new PodState(pod).disruption().isPresent(),
        new PodState(pod).isWaitingTarget(),
        Marks.labels(pod),
        pod.getStatus().getContainerStatuses().stream()
            .map(ContainerStatus::getRestartCount)
            .map(count -> Objects.requireNonNullElse(count, 0))
            .toList());
  }

  private static boolean matches(GpuCheckpointSchedule schedule, Pod pod) {
    try {
      return new Selector(schedule.getSpec().getSelector()).matches(pod.getMetadata().getLabels());
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** A pod that is being restored concerns the schedule, whatever its labels are. */
  private static boolean isNamed(GpuCheckpointSchedule schedule, Pod pod) {
    return schedule.getStatus() != null
        && schedule.getStatus().getRestores() != null
        && schedule.getStatus().getRestores().stream()
            .anyMatch(back -> back.pod().equals(pod.getMetadata().getName()));
  }
}
