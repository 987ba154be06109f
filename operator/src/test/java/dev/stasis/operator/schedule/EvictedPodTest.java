package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Protected pods that were evicted: either their eviction restores them, or their schedule. */
class EvictedPodTest {

  private final ScheduleFixture world =
      new ScheduleFixture(
          spec -> {
            spec.setRestoreOnFailure(new RestoreOnFailure());
            spec.getOptions().setTimeZone("UTC");
          });

  /** Its eviction was not delayed, for example because no operator was available. */
  @Test
  void aPodThatWasEvictedWithoutACheckpointIsRestored() {
    evicted(Optional.empty());

    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
    assertThat(world.restored().reason()).isEqualTo("PodDisrupted");
  }

  /** Its eviction was allowed at its deadline. */
  @Test
  void aPodWhoseCheckpointFailsAfterItsEvictionIsRestored() {
    evicted(Optional.of(CheckpointPhase.SAVING));
    assertThat(world.status().getRestores()).isNull();

    GpuCheckpoint attempt = world.cluster.checkpoints.get(1);
    Objects.requireNonNull(attempt.getStatus()).setPhase(CheckpointPhase.FAILED);
    world.settle();
    assertThat(world.restored().checkpoint()).isEqualTo(world.names().get(0));
  }

  @Test
  void aPodThatItsEvictionStoredIsLeftToIt() {
    evicted(Optional.of(CheckpointPhase.READY));

    assertThat(world.status().getRestores()).isNull();
  }

  /**
   * A protected pod with a checkpoint of its schedule is evicted and gone.
   *
   * @param attempt the phase of the checkpoint of its eviction
   */
  private void evicted(Optional<CheckpointPhase> attempt) {
    Pod pod =
        new PodBuilder(world.pod("trainer"))
            .editMetadata()
            .addToLabels(Api.PROTECT_LABEL, "enabled")
            .endMetadata()
            .build();
    world.replace(pod);
    world.at(ScheduleFixture.START.plusSeconds(60)).settle();
    assertThat(world.names()).hasSize(1);
    attempt.ifPresent(phase -> world.cluster.checkpoints.add(checkpoint(pod, phase)));
    Pod evicted = ScheduleFixture.disrupted(pod, "EvictionByEvictionAPI", world.now);
    world.replace(evicted);
    world.gone(evicted);
    world.settle();
  }

  private GpuCheckpoint checkpoint(Pod pod, CheckpointPhase phase) {
    GpuCheckpoint attempt = new GpuCheckpoint();
    attempt.getMetadata().setNamespace(ScheduleFixture.NAMESPACE);
    attempt.getMetadata().setName("evict-trainer-uid-1");
    attempt.getMetadata().setLabels(Map.of(Api.EVICTION_LABEL, "trainer-uid"));
    attempt.setSpec(new GpuCheckpointSpec());
    attempt.getSpec().setPodRef(new PodReference("trainer", "trainer-uid"));
    attempt.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    attempt.setStatus(CheckpointStatuses.of(pod, phase, world.now));
    return attempt;
  }
}
