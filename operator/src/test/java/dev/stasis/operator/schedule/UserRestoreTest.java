package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A failed pod that was left, and that its user restored under another name. */
class UserRestoreTest {

  private static final Instant FAILED = ScheduleFixture.START.plusSeconds(80);

  private final ScheduleFixture world =
      new ScheduleFixture(spec -> spec.getOptions().setTimeZone("UTC"));

  @Test
  void aPodThatItsUserRestoredAfterItsFailureIsNotRestoredASecondTime() {
    left();
    restored(FAILED.plusSeconds(60));
    anHourLater();

    assertThat(world.status().getRestores()).isNull();
    assertThat(world.writes.deletedPods).isEmpty();
  }

  /** That copy is another workload. */
  @Test
  void aPodThatItsUserCopiedBeforeItsFailureIsRestored() {
    left();
    restored(FAILED.minusSeconds(10));
    anHourLater();

    assertThat(world.restored().reason()).isEqualTo("PodFailed");
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

  private void restored(Instant created) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(ScheduleFixture.NAMESPACE)
            .withName("manual")
            .withCreationTimestamp(created.toString())
            .build());
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(world.names().get(0)));
    world.cluster.restores.add(restore);
    world.ends("manual", RestorePhase.SUCCEEDED);
  }

  private void anHourLater() {
    world.schedule.getSpec().setRestoreOnFailure(new RestoreOnFailure());
    world.at(FAILED.plusSeconds(3600)).settle();
  }
}
