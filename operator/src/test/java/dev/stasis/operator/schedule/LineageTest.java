package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A workload keeps its checkpoints when it moves to another pod. */
class LineageTest {

  private final ScheduleFixture world =
      new ScheduleFixture(
          spec -> {
            spec.setRestoreOnFailure(new RestoreOnFailure());
            spec.getOptions().setTimeZone("UTC");
          });

  /** Twice, and no run was due since. The objects that moved it are deleted. */
  @Test
  void aPodThatFailsAfterAMigrationAndAPreemptionIsRestored() {
    Pod first = checkpointed();
    world.gone(first);
    Pod moved = restored("trainer-x2k9q", "preemption-1a2b3c4d", "second-uid,trainer-uid");
    world.failed(moved);
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
    assertThat(world.restored().pod()).isEqualTo("trainer-x2k9q");
  }

  @Test
  void aPodOfAnotherWorkloadIsNotRestored() {
    Pod first = checkpointed();
    world.gone(first);
    world.failed(restored("other", "preemption-1a2b3c4d", "other-uid"));
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  /** The source has a newer checkpoint, and runs on. */
  @Test
  void aCopyIsRestoredFromTheStateThatWasCopied() {
    checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    assertThat(world.names()).hasSize(2);
    world.failed(restored("copy", world.names().get(0), "trainer-uid"));
    world.settle();

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
  }

  /** The checkpoint that was copied is deleted. */
  @Test
  void aRestartedCopyIsRestoredAlthoughItsSourceHasBeenCheckpointedSince() {
    checkpointed();
    Pod copy = restored("copy", "deleted", "trainer-uid");
    world.writes.refused = request -> isRunOf(request, "copy");
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    assertThat(world.names()).hasSize(2);
    world.now = ScheduleFixture.START.plusSeconds(90);
    world.restarted(copy, 137);
    world.at(ScheduleFixture.START.plusSeconds(130)).settle();

    assertThat(world.restored().pod()).isEqualTo("copy");
    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
  }

  /** The pod was left, for example because the node of its own checkpoint did not respond. */
  @Test
  void aPodThatItsUserRestoredFromALaterStateIsNotRestoredASecondTime() {
    checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    assertThat(world.names()).hasSize(2);
    world.failed(restored("trainer-x2k9q", world.names().get(0), "trainer-uid"));
    GpuRestore later = new GpuRestore();
    later.setMetadata(
        new ObjectMetaBuilder()
            .withNamespace(ScheduleFixture.NAMESPACE)
            .withName("manual")
            .withCreationTimestamp(world.now.plusSeconds(60).toString())
            .build());
    later.setSpec(new GpuRestoreSpec());
    later.getSpec().setCheckpointRef(NameReference.of(world.names().get(1)));
    world.cluster.restores.add(later);
    world.ends("manual", RestorePhase.SUCCEEDED);
    world.settle();

    assertThat(world.status().getRestores()).isNull();
  }

  /** The restore of the source, from its later state, does not restore the copy. */
  @Test
  void aFailedCopyIsRestoredAlthoughItsSourceHasBeenRestoredSince() {
    Pod source = checkpointed();
    world.at(ScheduleFixture.START.plusSeconds(120)).settle();
    List<String> names = world.names();
    assertThat(names).hasSize(2);
    Pod copy = restored("copy", names.get(0), "trainer-uid");
    world.writes.refused = request -> isRunOf(request, "copy");
    world.failed(source);
    world.at(ScheduleFixture.START.plusSeconds(130)).settle();
    assertThat(world.restored().pod()).isEqualTo("trainer");
    assertThat(world.restored().checkpoint()).isEqualTo(names.get(1));
    world.ends(world.restored().restore(), RestorePhase.SUCCEEDED);
    // The kubelet does not report when.
    world.failed(copy);
    world.at(ScheduleFixture.START.plusSeconds(140)).settle();

    assertThat(world.restored().pod()).isEqualTo("copy");
    assertThat(world.restored().checkpoint()).isEqualTo(names.get(0));
  }

  private static boolean isRunOf(HasMetadata request, String pod) {
    return request instanceof GpuCheckpoint checkpoint
        && pod.equals(checkpoint.getSpec().podName());
  }

  private Pod checkpointed() {
    Pod pod = world.pod("trainer");
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    assertThat(world.names()).hasSize(1);
    return pod;
  }

  private Pod restored(String name, String checkpoint, String former) {
    Pod pod =
        new PodBuilder(world.pod(name))
            .editMetadata()
            .withCreationTimestamp(world.now.toString())
            .addToLabels(Api.CHECKPOINT_LABEL, checkpoint)
            .addToAnnotations(Api.FORMER_PODS_ANNOTATION, former)
            .endMetadata()
            .build();
    world.replace(pod);
    return pod;
  }
}
