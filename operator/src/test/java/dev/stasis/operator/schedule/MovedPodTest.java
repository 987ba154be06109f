package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.migration.Commitment;
import dev.stasis.api.v1beta1.migration.Decision;
import dev.stasis.api.v1beta1.migration.GpuMigrationSpec;
import dev.stasis.api.v1beta1.migration.GpuMigrationStatus;
import dev.stasis.api.v1beta1.migration.MigrationPhase;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Pods that Stasis itself moves or evicts: their schedule does not restore a second copy. */
class MovedPodTest {

  private final ScheduleFixture world =
      new ScheduleFixture(
          spec -> {
            spec.setRestoreOnFailure(new RestoreOnFailure());
            spec.getOptions().setTimeZone("UTC");
          });

  @Test
  void aPodThatAMigrationHasMovedIsNotRestored() {
    Pod pod = checkpointed();
    GpuMigration migration = migration(pod, MigrationPhase.SUCCEEDED, Decision.SWITCH_OVER);
    world.movedPods.note(migration);
    evicted(pod);
    assertThat(world.status().getRestores()).isNull();

    world.cluster.migrations.clear();
    world.settle();
    assertThat(world.status().getRestores()).isNull();
  }

  /** An operator that was restarted during the migration. */
  @Test
  void theSourceOfAMigrationThatWasDecidedEarlierIsNotRestored() {
    Pod pod = checkpointed();
    migration(pod, MigrationPhase.SUCCEEDED, Decision.SWITCH_OVER);
    evicted(pod);

    assertThat(world.status().getRestores()).isNull();
  }

  /** Its pod remains on a silent node. The operator was restarted after its GpuMigration went. */
  @Test
  void theFrozenSourceOfADeletedMigrationIsNotRestored() {
    Pod pod = checkpointed();
    successor();
    evicted(frozen(pod));

    assertThat(world.status().getRestores()).isNull();
  }

  /** Its node was lost during a migration, and the removal of the target takes a while. */
  @Test
  void theFrozenSourceOfAMigrationThatWasRolledBackIsRestored() {
    Pod pod = checkpointed();
    migration(pod, MigrationPhase.ROLLED_BACK, Decision.ROLL_BACK);
    world.replace(
        new PodBuilder(successor())
            .editSpec()
            .addNewReadinessGate(Api.RESTORED_GATE)
            .endSpec()
            .build());
    evicted(frozen(pod));

    assertThat(world.restored().reason()).isEqualTo("PodDisrupted");
  }

  /** Its node was lost during a migration. */
  @Test
  void aFrozenPodThatItsUserCopiedBeforeIsRestored() {
    Pod pod = checkpointed();
    Pod copy = successor();
    world.replace(
        new PodBuilder(copy)
            .editMetadata()
            .addToAnnotations(Api.FORMER_PODS_ANNOTATION, "copy-uid,trainer-uid@" + world.frozen(0))
            .endMetadata()
            .build());
    world.at(world.now.plusSeconds(600));
    evicted(frozen(pod));

    assertThat(world.restored().pod()).isEqualTo("trainer");
  }

  /** The operator that evicted it did not run for a while, and its requests are deleted. */
  @Test
  void aFrozenPodThatWasRestoredAfterItsEvictionIsNotRestoredASecondTime() {
    Pod pod = checkpointed();
    world.now = world.now.plusSeconds(600);
    Pod frozen = frozen(pod);
    world.now = world.now.plusSeconds(60);
    world.replace(
        new PodBuilder(successor())
            .editMetadata()
            .withCreationTimestamp(world.now.toString())
            .addToAnnotations(Api.FORMER_PODS_ANNOTATION, "trainer-uid@" + world.frozen(0))
            .endMetadata()
            .build());
    evicted(frozen);

    assertThat(world.status().getRestores()).isNull();
  }

  @Test
  void aRunningPodThatItsUserCopiedIsRestored() {
    Pod pod = checkpointed();
    successor();
    evicted(pod);

    assertThat(world.restored().reason()).isEqualTo("PodDisrupted");
  }

  @Test
  void aPodThatFailsDuringAMigrationIsRestoredOnlyIfItWasNotMoved() {
    Pod pod = checkpointed();
    GpuMigration migration = migration(pod, MigrationPhase.TRANSFERRING, null);
    world.now = world.now.plusSeconds(20);
    world.restarted(pod, 137);
    world.settle();
    assertThat(world.status().getRestores()).isNull();
    assertThat(world.writes.deletedPods).isEmpty();

    migration.getStatus().setPhase(MigrationPhase.ROLLED_BACK);
    migration.getStatus().setCommitment(new Commitment(Decision.ROLL_BACK, world.now, "operator"));
    world.settle();
    assertThat(world.restored().reason()).isEqualTo("ContainerRestarted");
  }

  @Test
  void aPodThatFailsDuringItsEvictionIsRestoredOnlyIfItWasNotEvicted() {
    Pod pod = checkpointed();
    GpuCheckpoint eviction = eviction(pod, CheckpointPhase.SAVING);
    world.cluster.checkpoints.add(eviction);
    world.now = world.now.plusSeconds(20);
    world.restarted(pod, 137);
    world.settle();
    assertThat(world.status().getRestores()).isNull();

    Objects.requireNonNull(eviction.getStatus()).setPhase(CheckpointPhase.FAILED);
    world.settle();
    assertThat(world.restored().reason()).isEqualTo("ContainerRestarted");
  }

  /** A policy deletes the GpuCheckpoint of a victim as soon as the victim runs again. */
  @Test
  void aPreemptedPodIsNotRestoredAfterItsCheckpointWasDeleted() {
    Pod pod = checkpointed();
    world.movedPods.note(eviction(pod, CheckpointPhase.READY));
    evicted(pod);

    assertThat(world.status().getRestores()).isNull();
  }

  @Test
  void anEvictedPodIsRestoredAfterItsArtifactWasLost() {
    Pod pod = checkpointed();
    world.movedPods.note(eviction(pod, CheckpointPhase.READY));
    world.movedPods.note(eviction(pod, CheckpointPhase.FAILED));
    evicted(pod);

    assertThat(world.restored().reason()).isEqualTo("PodDisrupted");
  }

  private Pod checkpointed() {
    Pod pod = world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    assertThat(world.names()).hasSize(1);
    return pod;
  }

  /** Another pod was created for the workload. */
  private Pod successor() {
    Pod successor =
        new PodBuilder(world.pod("trainer-x2k9q"))
            .editMetadata()
            .addToAnnotations(Api.FORMER_PODS_ANNOTATION, "trainer-uid")
            .endMetadata()
            .build();
    world.replace(successor);
    return successor;
  }

  private Pod frozen(Pod pod) {
    return new PodBuilder(pod)
        .editStatus()
        .addNewCondition()
        .withType(Api.FROZEN_POD_CONDITION)
        .withStatus("True")
        .withReason("Frozen")
        .withLastTransitionTime(world.now.toString())
        .endCondition()
        .endStatus()
        .build();
  }

  private void evicted(Pod pod) {
    Pod evicted = ScheduleFixture.disrupted(pod, "EvictionByEvictionAPI", world.now);
    world.replace(evicted);
    world.settle();
    world.gone(evicted);
    world.settle();
  }

  private GpuMigration migration(Pod pod, MigrationPhase phase, @Nullable Decision decision) {
    GpuMigration migration = new GpuMigration();
    migration.getMetadata().setNamespace(ScheduleFixture.NAMESPACE);
    migration.getMetadata().setName("move");
    migration.setSpec(new GpuMigrationSpec());
    migration.getSpec().setPodRef(new PodReference("trainer", null));
    migration.setStatus(new GpuMigrationStatus());
    migration.getStatus().setPhase(phase);
    migration
        .getStatus()
        .setSource(new ObservedPod("trainer", pod.getMetadata().getUid(), "main", "node1"));
    if (decision != null) {
      migration.getStatus().setCommitment(new Commitment(decision, world.now, "operator"));
    }
    world.cluster.migrations.add(migration);
    return migration;
  }

  private GpuCheckpoint eviction(Pod pod, CheckpointPhase phase) {
    GpuCheckpoint eviction = new GpuCheckpoint();
    eviction.getMetadata().setNamespace(ScheduleFixture.NAMESPACE);
    eviction.getMetadata().setName("trainer-1a2b3c4d");
    eviction.setSpec(new GpuCheckpointSpec());
    eviction.getSpec().setPodRef(new PodReference("trainer", pod.getMetadata().getUid()));
    eviction.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    eviction.setStatus(CheckpointStatuses.of(pod, phase, world.now));
    eviction
        .getStatus()
        .setConditions(
            List.of(
                new Condition(
                    "SourceRunning", ConditionValue.FALSE, "Evicted", "", world.now, 1L)));
    return eviction;
  }
}
