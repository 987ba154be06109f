package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.operator.event.Story;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A failed pod that was left, and that its user restored under another name. */
class UserRestoreTest {

  private static final Instant FAILED = ScheduleFixture.START.plusSeconds(80);

  private final ScheduleFixture world =
      new ScheduleFixture(spec -> spec.getOptions().setTimeZone("UTC"));

  @Test
  void aPodThatItsUserRestoredAfterItsFailureIsNotRestoredASecondTime() {
    left();
    restored(world.names().get(0), FAILED.plusSeconds(60));
    anHourLater();

    assertThat(world.status().getRestores()).isNull();
    assertThat(world.writes.deletedPods).isEmpty();
  }

  /** Its kubelet does not know when it failed. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aPodThatItsUserRestoredAfterAnUnknownTimeIsNotRestoredASecondTime(boolean restarted) {
    Pod pod = world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    world.endedUnseen(pod, restarted);
    restored(world.names().get(0), FAILED.plusSeconds(60));
    anHourLater();

    assertThat(world.status().getRestores()).isNull();
    assertThat(world.writes.deletedPods).isEmpty();
  }

  /** Neither the GpuCheckpoint nor the GpuRestore is one of the schedule. */
  @Test
  void aPodThatItsUserRestoresFromAnotherCheckpointIsNotRestoredASecondTime() {
    left();
    GpuCheckpoint own = new GpuCheckpoint();
    own.getMetadata().setNamespace(ScheduleFixture.NAMESPACE);
    own.getMetadata().setName("own");
    own.setSpec(new GpuCheckpointSpec());
    own.getSpec().setPodRef(new PodReference("trainer", null));
    own.setStatus(
        CheckpointStatuses.of(
            world.cluster.pods.get(0), CheckpointPhase.READY, ScheduleFixture.START));
    world.cluster.checkpoints.add(own);
    restored("own", FAILED.plusSeconds(60));
    world.ends("manual", RestorePhase.RESTORING);
    anHourLater();
    assertThat(world.status().getRestores()).isNull();

    world.ends("manual", RestorePhase.SUCCEEDED);
    world.settle();
    assertThat(world.status().getRestores()).isNull();

    world.ends("manual", RestorePhase.FAILED);
    world.settle();
    assertThat(world.restored().reason()).isEqualTo("PodFailed");
  }

  /** That copy is another workload. */
  @Test
  void aPodThatItsUserCopiedBeforeItsFailureIsRestored() {
    left();
    restored(world.names().get(0), FAILED.minusSeconds(10));
    anHourLater();

    assertThat(world.restored().reason()).isEqualTo("PodFailed");
  }

  /** An event with the same occasion is not recorded again. */
  @Test
  void theEndOfAGpuRestoreThatAPodWaitedForIsAnotherOccasion() {
    left();
    restored(world.names().get(0), FAILED.plusSeconds(60));
    world.ends("manual", RestorePhase.PENDING);
    anHourLater();
    world.ends("manual", RestorePhase.SUCCEEDED);
    world.settle();

    assertThat(occasions("has restored")).isNotEmpty().isNotEqualTo(occasions("has not ended"));
  }

  private Set<String> occasions(String message) {
    return world.stories.stream()
        .filter(it -> it.message().contains(message))
        .map(Story::occasion)
        .collect(Collectors.toSet());
  }

  /** It fails, and its schedule does not restore pods yet. */
  private void left() {
    Pod pod = world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    assertThat(world.names()).hasSize(1);
    world.replace(
        new PodBuilder(pod)
            .editStatus()
            .withPhase("Failed")
            .addNewContainerStatus()
            .withName("main")
            .withRestartCount(0)
            .withNewState()
            .withNewTerminated()
            .withExitCode(1)
            .withFinishedAt(FAILED.toString())
            .endTerminated()
            .endState()
            .endContainerStatus()
            .endStatus()
            .build());
  }

  private void restored(String checkpoint, Instant created) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(ScheduleFixture.NAMESPACE)
            .withName("manual")
            .withCreationTimestamp(created.toString())
            .build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(checkpoint));
    world.cluster.restores.add(restore);
    world.ends("manual", RestorePhase.SUCCEEDED);
  }

  private void anHourLater() {
    world.schedule.getSpec().setRestoreOnFailure(new RestoreOnFailure());
    world.at(FAILED.plusSeconds(3600)).settle();
  }
}
