package dev.stasis.operator.schedule;

import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.api.v1beta1.schedule.ScheduledRun;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.Cache;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Whether each GpuCheckpointSchedule runs, and whether its last run succeeded. */
@Singleton
class ScheduleMetrics {

  private final Set<ResourceID> registered = ConcurrentHashMap.newKeySet();
  private final MeterRegistry registry;

  ScheduleMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /**
   * Registers the gauges of a schedule; calling it again has no effect. They have no value once the
   * schedule is deleted.
   */
  void register(ResourceID id, Cache<GpuCheckpointSchedule> cache) {
    if (!registered.add(id)) {
      return;
    }
    gauge("stasis_schedule_failed_pods", id, cache, ScheduleMetrics::failedPods);
    gauge(
        "stasis_schedule_next_run_timestamp_seconds",
        id,
        cache,
        time(GpuCheckpointScheduleStatus::getNextScheduleTime));
    gauge(
        "stasis_schedule_last_success_timestamp_seconds",
        id,
        cache,
        time(GpuCheckpointScheduleStatus::getLastSuccessfulTime));
    gauge(
        "stasis_schedule_newest_checkpoint_timestamp_seconds",
        id,
        cache,
        time(GpuCheckpointScheduleStatus::getNewestGoodTime));
  }

  private void gauge(
      String name,
      ResourceID id,
      Cache<GpuCheckpointSchedule> cache,
      ToDoubleFunction<GpuCheckpointScheduleStatus> value) {
    Gauge.builder(
            name,
            cache,
            schedules ->
                schedules
                    .get(id)
                    .map(GpuCheckpointSchedule::getStatus)
                    .map(value::applyAsDouble)
                    .orElse(Double.NaN))
        .tag("namespace", id.getNamespace().orElse(""))
        .tag("schedule", id.getName())
        .strongReference(true)
        .register(registry);
  }

  private static ToDoubleFunction<GpuCheckpointScheduleStatus> time(
      Function<GpuCheckpointScheduleStatus, @Nullable Instant> time) {
    return status ->
        Optional.ofNullable(time.apply(status))
            .map(it -> (double) it.getEpochSecond())
            .orElse(Double.NaN);
  }

  /** A run that was skipped has no phase. Ready is not final: the artifact may be lost later. */
  private static boolean isOver(ScheduledRun run) {
    return run.phase() == null || run.phase() == CheckpointPhase.READY || run.phase().isFinal();
  }

  /**
   * Pods without a checkpoint of the last finished run. Older runs do not count, because their pods
   * may be gone.
   */
  private static double failedPods(GpuCheckpointScheduleStatus status) {
    List<ScheduledRun> over =
        Optional.ofNullable(status.getHistory()).stream()
            .flatMap(List::stream)
            .filter(ScheduleMetrics::isOver)
            .toList();
    Optional<Instant> last = over.stream().map(ScheduledRun::time).max(Comparator.naturalOrder());
    return over.stream()
        .filter(run -> last.filter(run.time()::equals).isPresent())
        .filter(run -> run.phase() != CheckpointPhase.READY)
        .map(ScheduledRun::pod)
        .distinct()
        .count();
  }
}
