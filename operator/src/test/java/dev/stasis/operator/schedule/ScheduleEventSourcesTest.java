package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Changed;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScheduleEventSourcesTest {

  private final ScheduleEventSources sources = new ScheduleEventSources(new OneSchedule());

  @Test
  void theProgressOfACheckpointConcernsNoScheduleItsPhaseDoes() {
    GpuCheckpoint begun = checkpoint(CheckpointPhase.SAVING, 1);

    assertThat(sources.ofRequest(changed(begun, checkpoint(CheckpointPhase.SAVING, 2)))).isEmpty();
    assertThat(sources.ofRequest(changed(begun, checkpoint(CheckpointPhase.READY, 2))))
        .containsExactly(new ResourceID("often", "ml"));
  }

  @Test
  void theEndOfAnEvictionsCheckpointConcernsTheSchedulesOfItsNamespace() {
    GpuCheckpoint begun = checkpoint(CheckpointPhase.SAVING, 1);
    GpuCheckpoint failed = checkpoint(CheckpointPhase.FAILED, 1);
    List.of(begun, failed)
        .forEach(it -> it.getMetadata().setLabels(Map.of(Api.EVICTION_LABEL, "pod-uid")));

    assertThat(sources.ofRequest(changed(begun, failed)))
        .containsExactly(new ResourceID("nightly", "ml"));
  }

  /** Without an event, a daily schedule would see the failure when the pod is forgotten. */
  @Test
  void theEndOfAnyRequestThatRemovesItsPodConcernsTheSchedulesOfItsNamespace() {
    GpuCheckpoint begun = checkpoint(CheckpointPhase.SAVING, 1);
    GpuCheckpoint failed = checkpoint(CheckpointPhase.FAILED, 1);
    for (GpuCheckpoint one : List.of(begun, failed)) {
      one.getMetadata().setLabels(Map.of(Api.POLICY_LABEL, "batch-yields"));
      one.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    }
    assertThat(sources.ofRequest(changed(begun, failed)))
        .containsExactly(new ResourceID("nightly", "ml"));

    GpuMigration restoring = migration(MigrationPhase.RESTORING);
    assertThat(
            sources.ofRequest(
                new Changed<>(
                    Optional.of(migration(MigrationPhase.FREEZING)), Optional.of(restoring))))
        .isEmpty();
    assertThat(
            sources.ofRequest(
                new Changed<>(
                    Optional.of(restoring), Optional.of(migration(MigrationPhase.FAILED)))))
        .containsExactly(new ResourceID("nightly", "ml"));
  }

  /** The schedule left the failed pod to this restore. */
  @Test
  void aRestoreOfAUserThatFailsConcernsTheSchedulesOfItsNamespace() {
    GpuRestore waiting = restore(RestorePhase.PENDING);
    assertThat(sources.ofRequest(new Changed<>(Optional.of(waiting), Optional.empty())))
        .containsExactly(new ResourceID("nightly", "ml"));
    assertThat(
            sources.ofRequest(
                new Changed<>(Optional.of(waiting), Optional.of(restore(RestorePhase.FAILED)))))
        .containsExactly(new ResourceID("nightly", "ml"));

    GpuRestore succeeded = restore(RestorePhase.SUCCEEDED);
    assertThat(sources.ofRequest(new Changed<>(Optional.of(waiting), Optional.of(succeeded))))
        .isEmpty();
    assertThat(sources.ofRequest(new Changed<>(Optional.of(succeeded), Optional.empty())))
        .isEmpty();
  }

  private static GpuRestore restore(RestorePhase phase) {
    GpuRestore restore = new GpuRestore();
    restore.getMetadata().setNamespace("ml");
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(phase);
    return restore;
  }

  private static GpuMigration migration(MigrationPhase phase) {
    GpuMigration migration = new GpuMigration();
    migration.getMetadata().setNamespace("ml");
    migration.setStatus(new GpuMigrationStatus());
    migration.getStatus().setPhase(phase);
    return migration;
  }

  private static Changed<GpuCheckpoint> changed(GpuCheckpoint before, GpuCheckpoint after) {
    return new Changed<>(Optional.of(before), Optional.of(after));
  }

  private static GpuCheckpoint checkpoint(CheckpointPhase phase, long doneBytes) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace("ml");
    checkpoint.getMetadata().setLabels(Map.of(Api.SCHEDULE_LABEL, "often"));
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.setStatus(new GpuCheckpointStatus());
    checkpoint.getStatus().setPhase(phase);
    checkpoint.getStatus().setDoneBytes(doneBytes);
    return checkpoint;
  }

  private static final class OneSchedule implements IndexerResourceCache<GpuCheckpointSchedule> {

    @Override
    public void addIndexers(Map<String, Function<GpuCheckpointSchedule, List<String>>> indexers) {}

    @Override
    public List<GpuCheckpointSchedule> byIndex(String index, String key) {
      GpuCheckpointSchedule schedule = new GpuCheckpointSchedule();
      schedule.getMetadata().setName("nightly");
      schedule.getMetadata().setNamespace(key);
      return List.of(schedule);
    }

    @Override
    public Optional<GpuCheckpointSchedule> get(ResourceID id) {
      return Optional.empty();
    }

    @Override
    public Stream<ResourceID> keys() {
      return Stream.empty();
    }

    @Override
    public Stream<GpuCheckpointSchedule> list(Predicate<GpuCheckpointSchedule> wanted) {
      return Stream.empty();
    }

    @Override
    public Stream<GpuCheckpointSchedule> list(
        String namespace, Predicate<GpuCheckpointSchedule> wanted) {
      return Stream.empty();
    }
  }
}
