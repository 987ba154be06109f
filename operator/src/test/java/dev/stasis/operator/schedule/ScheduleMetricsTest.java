package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus;
import dev.stasis.api.v1beta1.schedule.ScheduledRun;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.Cache;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

public class ScheduleMetricsTest {

  private static final Instant DUE = Instant.parse("2026-11-24T12:00:00Z");
  private static final ResourceID ID = new ResourceID("hourly", "ml");

  private record Schedules(Map<ResourceID, GpuCheckpointSchedule> byId)
      implements Cache<GpuCheckpointSchedule> {

    @Override
    public Optional<GpuCheckpointSchedule> get(ResourceID id) {
      return Optional.ofNullable(byId.get(id));
    }

    @Override
    public Stream<ResourceID> keys() {
      return byId.keySet().stream();
    }

    @Override
    public Stream<GpuCheckpointSchedule> list(Predicate<GpuCheckpointSchedule> predicate) {
      return byId.values().stream().filter(predicate);
    }
  }

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Map<ResourceID, GpuCheckpointSchedule> schedules = new HashMap<>();

  /** A schedule whose last run failed for one pod. */
  public static void publish(MeterRegistry registry) {
    new ScheduleMetrics(registry)
        .register(ID, new Schedules(Map.of(ID, schedule(run("a", DUE, CheckpointPhase.FAILED)))));
  }

  private static GpuCheckpointSchedule schedule(ScheduledRun... newestFirst) {
    GpuCheckpointSchedule schedule = new GpuCheckpointSchedule();
    schedule.setMetadata(new ObjectMetaBuilder().withNamespace("ml").withName("hourly").build());
    GpuCheckpointScheduleStatus status = new GpuCheckpointScheduleStatus();
    status.setHistory(List.of(newestFirst));
    status.setNextScheduleTime(DUE.plusSeconds(3600));
    status.setLastSuccessfulTime(DUE.minusSeconds(3600));
    schedule.setStatus(status);
    return schedule;
  }

  private static ScheduledRun run(String pod, Instant due, @Nullable CheckpointPhase phase) {
    return new ScheduledRun(pod + due.getEpochSecond(), pod, due, phase, null, null, null, null);
  }

  private double failedPods(ScheduledRun... newestFirst) {
    schedules.put(ID, schedule(newestFirst));
    new ScheduleMetrics(registry).register(ID, new Schedules(schedules));
    return registry.get("stasis_schedule_failed_pods").gauge().value();
  }

  @Test
  void onlyTheLastRunThatIsOverCounts() {
    Instant before = DUE.minusSeconds(3600);
    assertThat(
            failedPods(
                run("a", DUE, CheckpointPhase.SAVING),
                run("a", before, CheckpointPhase.FAILED),
                run("b", before, CheckpointPhase.READY),
                run("gone", before.minusSeconds(3600), CheckpointPhase.FAILED)))
        .isEqualTo(1);
  }

  @Test
  void aRunThatSucceedsEndsIt() {
    assertThat(
            failedPods(
                run("a", DUE, CheckpointPhase.READY),
                run("a", DUE.minusSeconds(3600), CheckpointPhase.FAILED)))
        .isZero();
  }

  @Test
  void aRunThatWasSkippedHasMadeNoCheckpoint() {
    assertThat(failedPods(run("a", DUE, null))).isEqualTo(1);
  }

  @Test
  void aDeletedScheduleHasNoValues() {
    failedPods(run("a", DUE, CheckpointPhase.FAILED));
    schedules.clear();

    assertThat(registry.get("stasis_schedule_failed_pods").gauge().value()).isNaN();
    assertThat(registry.get("stasis_schedule_next_run_timestamp_seconds").gauge().value()).isNaN();
  }
}
