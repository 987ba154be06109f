package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.Api;
import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.ClusterSource;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.selector.Selector;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** Which schedules a change of another kind concerns. */
final class Concerned {

  private static final String BY_NAMESPACE = "schedules-of";

  private final IndexerResourceCache<GpuCheckpointSchedule> schedules;

  Concerned(IndexerResourceCache<GpuCheckpointSchedule> schedules) {
    this.schedules = schedules;
    schedules.addIndexers(
        Map.of(BY_NAMESPACE, schedule -> List.of(schedule.getMetadata().getNamespace())));
  }

  <R extends HasMetadata> EventSource<R, GpuCheckpointSchedule> source(
      Class<R> kind, Informers informers, Function<Changed<R>, Collection<ResourceID>> concerned) {
    return new ClusterSource<>(kind, informers, concerned);
  }

  /** A pod changes all the time; few of that says whether it came, went or failed. */
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

  /** By the label that everything has that a schedule made. */
  <R extends HasMetadata> Collection<ResourceID> ofMade(Changed<R> change) {
    R made = change.subject();
    Map<String, String> labels = made.getMetadata().getLabels();
    String schedule = labels == null ? null : labels.get(Api.SCHEDULE_LABEL);
    return schedule == null
        ? List.of()
        : List.of(new ResourceID(schedule, made.getMetadata().getNamespace()));
  }

  private static Object state(Pod pod) {
    if (pod.getStatus() == null) {
      return "";
    }
    return List.of(
        Objects.requireNonNullElse(pod.getStatus().getPhase(), ""),
        Objects.requireNonNullElse(pod.getMetadata().getDeletionTimestamp(), ""),
        Failures.disruption(pod).isPresent(),
        Failures.isWaitingTarget(pod),
        Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of()),
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

  /** It is being brought back, whatever its labels have become. */
  private static boolean isNamed(GpuCheckpointSchedule schedule, Pod pod) {
    return schedule.getStatus() != null
        && schedule.getStatus().getRestores() != null
        && schedule.getStatus().getRestores().stream()
            .anyMatch(back -> back.pod().equals(pod.getMetadata().getName()));
  }
}
