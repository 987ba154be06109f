package dev.stasis.operator.checkpoint;

import static dev.stasis.operator.testing.Kstatus.Verdict.IN_PROGRESS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.testing.Kstatus;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SuspensionTest {

  @Test
  void aSuspendedWorkloadHasNoArtifactAndComesBackAnyNumberOfTimes() {
    World world = Samples.world(AfterCheckpoint.SUSPEND).settle();
    for (int time = 1; time <= 3; time++) {
      world.agent(OperationType.SUSPEND, time).succeeds(WorkloadState.SUSPENDED);
      world.settle();
      assertThat(world.phase()).isEqualTo(CheckpointPhase.SUSPENDED);
      assertThat(world.condition("Suspended")).startsWith("True/Suspended");
      assertThat(world.status().getMessage()).isEqualTo("suspended in the memory of node gpu-17");
      assertThat(world.condition("SourceRunning")).startsWith("False/Suspended");
      // Its agent keeps it suspended as long as there is the order.
      assertThat(world.operations()).hasSize(1);

      world.checkpoint.getSpec().setDesiredState(DesiredState.RUNNING);
      world.settle();
      assertThat(world.phase()).isEqualTo(CheckpointPhase.RESUMING);
      assertThat(
              world.operation(OperationType.RESUME, time).orElseThrow().getSpec().getOfOperation())
          .isEqualTo("ckpt-uid-1-suspend-" + time);
      world.agent(OperationType.RESUME, time).succeeds(WorkloadState.RUNNING);
      world.settle();
      assertThat(world.phase()).isEqualTo(CheckpointPhase.PENDING);
      assertThat(world.condition("Suspended")).startsWith("False/Resumed");
      assertThat(world.condition("SourceRunning")).startsWith("True/Resumed");
      assertThat(world.operations()).isEmpty();

      world.checkpoint.getSpec().setDesiredState(DesiredState.SUSPENDED);
      world.settle();
      assertThat(world.operation(OperationType.SUSPEND, time + 1)).isPresent();
    }
    assertThat(world.status().getSuspensions()).isEqualTo(3);
    assertThat(world.marks)
        .extracting(PodConditionUpdate::status)
        .containsExactly(true, false, true, false, true, false);
  }

  @Test
  void aLaterSuspensionThatWaitsIsPolledThoughTheDeadlineOfTheFirstIsOver() {
    World world = Samples.world(AfterCheckpoint.SUSPEND).settle();
    world.agent(OperationType.SUSPEND, 1).succeeds(WorkloadState.SUSPENDED);
    world.settle();
    world.checkpoint.getSpec().setDesiredState(DesiredState.RUNNING);
    world.settle();
    world.agent(OperationType.RESUME, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    world.later(Duration.ofHours(2));
    world.checkpoint.getSpec().setDesiredState(DesiredState.SUSPENDED);
    world.settle();

    assertThat(world.condition("Ready")).startsWith("False/NodeSilent");
    assertThat(world.again).isEqualTo(world.config.lookAgainEvery());
  }

  @Test
  void withAStoreTheFirstSuspensionWritesAnArtifactThatStays() {
    World world = suspendedWithAnArtifact();
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    assertThat(world.condition("Suspended")).startsWith("True/");

    world.checkpoint.getSpec().setDesiredState(DesiredState.RUNNING);
    world.settle();
    world.agent(OperationType.RESUME, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);

    world.checkpoint.getSpec().setDesiredState(DesiredState.SUSPENDED);
    world.settle();
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    world
        .agent(OperationType.SUSPEND, 2)
        .claims()
        .fails(Outcome.REFUSED, "NoRoom", ConditionValue.TRUE);
    world.settle();
    assertThat(world.condition("Failed")).startsWith("True/NoRoom");
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
  }

  @Test
  void aResumeThatFailsIsTriedAgainAfterAWhile() {
    World world = suspended();
    world.checkpoint.getSpec().setDesiredState(DesiredState.RUNNING);
    world.settle();
    world
        .agent(OperationType.RESUME, 1)
        .claims()
        .fails(Outcome.UNDONE, "GpuBusy", ConditionValue.FALSE);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.SUSPENDED);
    assertThat(world.status().getMessage()).isEqualTo("still suspended: said by the agent");
    assertThat(world.operation(OperationType.RESUME, 1)).isEmpty();

    world.later(Duration.ofSeconds(15));
    world.settle();
    assertThat(world.operation(OperationType.RESUME, 1)).isPresent();
  }

  @Test
  void kstatusWaitsForAResumeThoughThereIsAnArtifact() {
    World world = suspendedWithAnArtifact();
    assertThat(verdict(world)).isEqualTo(Kstatus.Verdict.CURRENT);

    world.checkpoint.getSpec().setDesiredState(DesiredState.RUNNING);
    world.settle();
    world
        .agent(OperationType.RESUME, 1)
        .claims()
        .fails(Outcome.UNDONE, "GpuBusy", ConditionValue.FALSE);
    world.settle();
    assertThat(verdict(world)).as("it is to run, and does not").isEqualTo(IN_PROGRESS);
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
    assertThat(world.status().getReason()).isEqualTo("OperationFailed");

    world.checkpoint.getSpec().setDesiredState(DesiredState.SUSPENDED);
    world.settle();
    assertThat(verdict(world)).isEqualTo(Kstatus.Verdict.CURRENT);
  }

  private static World suspendedWithAnArtifact() {
    World world =
        Samples.world(
                spec -> {
                  spec.setAfterCheckpoint(AfterCheckpoint.SUSPEND);
                  spec.setStorageRef(NameReference.ofNullable("local"));
                })
            .settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.SUSPENDED);
    world.settle();
    return world;
  }

  private static Kstatus.Verdict verdict(World world) {
    return new Kstatus().verdict(world.checkpoint);
  }

  @Test
  void oneThatIsNotWantedYetIsNotSuspended() {
    World world =
        Samples.world(
                spec -> {
                  spec.setAfterCheckpoint(AfterCheckpoint.SUSPEND);
                  spec.setDesiredState(DesiredState.RUNNING);
                })
            .settle();

    assertThat(world.operations()).isEmpty();
    assertThat(world.status().getReason()).isEqualTo("NotSuspended");
    assertThat(verdict(world)).isEqualTo(Kstatus.Verdict.CURRENT);
  }

  @Test
  void aSuspendedWorkloadIsLostWithItsNodeItsBootOrItsPod() {
    World node = suspended();
    node.cluster.nodes.clear();
    node.settle();
    assertThat(node.condition("SourceRunning")).startsWith("False/WorkloadLost");

    World boot = suspended();
    Objects.requireNonNull(boot.cluster.gpuNodes.get(0).getStatus().getHost()).setBootId("boot-2");
    boot.settle();
    assertThat(boot.condition("Failed"))
        .isEqualTo("True/WorkloadLost: node gpu-17 restarted while the workload was suspended");

    World container = suspended();
    container.agent(OperationType.SUSPEND, 1).runsIn("c-1");
    container.cluster.pods.set(0, Samples.startedAnew(container.pod(), "containerd://c-2"));
    container.settle();
    assertThat(container.condition("Failed"))
        .isEqualTo("True/WorkloadLost: its container restarted while the workload was suspended");

    World pod = suspended();
    pod.cluster.pods.clear();
    pod.settle();
    assertThat(pod.phase()).isEqualTo(CheckpointPhase.FAILED);
  }

  /** The time would begin when the resume has failed. */
  @Test
  void theOnlyCopyOfAWorkloadThatIsLostAtItsResumeOutlivesItsTime() {
    World world = suspendedWithAnArtifact();
    world.checkpoint.getSpec().getOptions().setTtlAfterReady(TimeSpan.of("10m"));
    world.checkpoint.getSpec().setDesiredState(DesiredState.RUNNING);
    world.settle();
    world
        .agent(OperationType.RESUME, 1)
        .claims()
        .works("unlock", WorkloadState.ENDED)
        .fails(Outcome.LOST, "WorkloadGone", ConditionValue.FALSE);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.condition("SourceRunning")).startsWith("False/WorkloadLost");
    world.later(Duration.ofMinutes(10));
    world.turn();

    assertThat(world.checkpoint.getMetadata().getDeletionTimestamp()).isNull();
    assertThat(world.condition("Ready")).startsWith("True/ArtifactVerified");
  }

  @Test
  void deletingItResumesFirst() {
    World world = suspended();
    world.delete();
    world.settle();
    assertThat(world.gone).isFalse();
    assertThat(world.operation(OperationType.RESUME, 1)).isPresent();

    world.agent(OperationType.RESUME, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(world.operations()).isEmpty();
    assertThat(world.marks).last().extracting(PodConditionUpdate::status).isEqualTo(false);
  }

  private static World suspended() {
    World world = Samples.world(AfterCheckpoint.SUSPEND).settle();
    world.agent(OperationType.SUSPEND, 1).succeeds(WorkloadState.SUSPENDED);
    return world.settle();
  }
}
