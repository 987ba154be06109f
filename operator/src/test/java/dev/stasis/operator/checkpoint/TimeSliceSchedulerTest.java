package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.checkpoint.GpuTurn;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.event.Story;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** One of two that share a GPU; the other one is moved by hand. */
class TimeSliceSchedulerTest {

  private final World world =
      Samples.world(
          spec -> {
            spec.setAfterCheckpoint(AfterCheckpoint.SUSPEND);
            spec.getOptions().setTimeSlice(TimeSpan.of("30s"));
          });

  @Test
  void aWorkloadRunsForItsSliceAndThenWaits() {
    GpuCheckpoint other = other(CheckpointPhase.PENDING);
    suspend(1);
    assertThat(world.status().getMessage())
        .isEqualTo("suspended; place 1, other has the GPU until 2026-11-21T10:00:30Z");
    assertThat(turn().place()).isEqualTo(1);
    assertThat(turn().holder()).isEqualTo("other");

    world.later(Duration.ofSeconds(30));
    phase(other, CheckpointPhase.SUSPENDED);
    resume(1);
    assertThat(turn().place()).isZero();
    assertThat(turn().holder()).isEqualTo("trainer");
    assertThat(turn().until()).isEqualTo(world.now.plusSeconds(30));
    assertThat(world.status().getMessage())
        .isEqualTo("has its time slice until 2026-11-21T10:01:00Z");
    assertThat(world.operation(OperationType.SUSPEND, 2)).isEmpty();

    world.later(Duration.ofSeconds(30));
    world.settle();
    assertThat(world.operation(OperationType.SUSPEND, 2)).isPresent();
  }

  @Test
  void aResumeThatFailsLetsTheNextOneGo() {
    GpuCheckpoint other = other(CheckpointPhase.SUSPENDED);
    Objects.requireNonNull(other.getStatus())
        .setTurn(new GpuTurn(1, null, World.START.plusSeconds(5), null));
    suspend(1);
    world.later(Duration.ofSeconds(6));
    world.settle();
    world
        .agent(OperationType.RESUME, 1)
        .claims()
        .fails(Outcome.UNDONE, "NoRoom", ConditionValue.FALSE);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.SUSPENDED);
    assertThat(world.status().getMessage()).startsWith("still suspended");
    world.later(Duration.ofMinutes(1));
    world.settle();
    assertThat(world.operation(OperationType.RESUME, 1)).isEmpty();
    assertThat(world.stories).extracting(Story::message).anyMatch(it -> it.startsWith("still"));

    // The other one had its turn.
    world.later(Duration.ofMinutes(1));
    Objects.requireNonNull(other.getStatus()).setTurn(new GpuTurn(1, null, world.now, null));
    world.settle();
    assertThat(world.operation(OperationType.RESUME, 1)).isPresent();
  }

  @Test
  void oneThatCannotBeSuspendedRunsOnForAnotherTurn() {
    GpuCheckpoint other = other(CheckpointPhase.SUSPENDED);
    Objects.requireNonNull(other.getStatus())
        .setTurn(new GpuTurn(1, null, World.START.plusSeconds(5), null));
    suspend(1);
    resume(1);
    world.later(Duration.ofSeconds(30));
    world.settle();
    world
        .agent(OperationType.SUSPEND, 2)
        .claims()
        .fails(Outcome.UNDONE, "LockTimeout", ConditionValue.TRUE);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.PENDING);
    assertThat(world.operations()).isEmpty();
    assertThat(world.condition("Failed")).isEqualTo("none");
    assertThat(turn().until()).isEqualTo(world.now.plusSeconds(30));
    world.later(Duration.ofSeconds(30));
    world.settle();
    assertThat(world.operation(OperationType.SUSPEND, 2)).isPresent();
  }

  @Test
  void aDeletionWaitsUntilTheGpuIsFree() {
    GpuCheckpoint other = other(CheckpointPhase.PENDING);
    suspend(1);
    world.delete();
    world.settle();
    assertThat(world.operation(OperationType.RESUME, 1)).isEmpty();

    phase(other, CheckpointPhase.SUSPENDED);
    world.settle();
    world.agent(OperationType.RESUME, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(world.gone).isTrue();
  }

  @Test
  void thePodWhoseTurnItIsEndsAndTheNextOneGoes() {
    other(CheckpointPhase.PENDING);
    suspend(1);
    assertThat(world.operation(OperationType.RESUME, 1)).isEmpty();

    world.cluster.pods.removeIf(pod -> pod.getMetadata().getName().equals("other"));
    world.settle();
    assertThat(world.operation(OperationType.RESUME, 1)).isPresent();
  }

  @Test
  void withoutASliceThereIsNoTurn() {
    other(CheckpointPhase.PENDING);
    suspend(1);
    world.checkpoint.getSpec().getOptions().setTimeSlice(null);
    world.settle();

    assertThat(world.status().getTurn()).isNull();
    assertThat(world.operation(OperationType.RESUME, 1)).isEmpty();
  }

  private GpuTurn turn() {
    return Objects.requireNonNull(world.status().getTurn());
  }

  private void suspend(int number) {
    world.settle();
    world.agent(OperationType.SUSPEND, number).succeeds(WorkloadState.SUSPENDED);
    world.settle();
  }

  private void resume(int number) {
    world.settle();
    world.agent(OperationType.RESUME, number).succeeds(WorkloadState.RUNNING);
    world.settle();
  }

  private static void phase(GpuCheckpoint one, CheckpointPhase phase) {
    Objects.requireNonNull(one.getStatus()).setPhase(phase);
  }

  /** Of another pod on the same GPU. */
  private GpuCheckpoint other(CheckpointPhase phase) {
    world.cluster.pods.add(
        new PodBuilder(Samples.pod())
            .editMetadata()
            .withName("other")
            .withUid("pod-2")
            .endMetadata()
            .build());
    GpuCheckpoint other = new GpuCheckpoint();
    other.setMetadata(
        new ObjectMetaBuilder().withNamespace("ml").withName("other").withUid("uid-2").build());
    other.setSpec(new GpuCheckpointSpec());
    other.getSpec().setPodRef(PodReference.of("other"));
    other.getSpec().setAfterCheckpoint(AfterCheckpoint.SUSPEND);
    other.getSpec().getOptions().setTimeSlice(TimeSpan.of("30s"));
    other.setStatus(new GpuCheckpointStatus());
    other.getStatus().setPhase(phase);
    other.getStatus().setSuspensions(1);
    other.getStatus().setPod(new ObservedPod("other", "pod-2", "main", "gpu-17"));
    other.getStatus().setTurn(new GpuTurn(0, null, World.START, null));
    world.cluster.checkpoints.add(other);
    return other;
  }
}
