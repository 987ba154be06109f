package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.pod.PodWrites;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RaiseMemoryLimitTest {

  private static final long GIB = 1L << 30;

  private final World world = Samples.world(AfterCheckpoint.RESUME).settle();

  @Test
  void theLimitIsRaisedAfterADryRunAndReturnedAtTheEnd() {
    world.agent(OperationType.CHECKPOINT, 1).asksForRoom(9 * GIB, 4 * GIB);
    world.settle();
    assertThat(world.asked)
        .map(ask -> ((Question.Resize) ask).dryRun())
        .containsExactly(true, false);
    assertThat(limit()).isEqualTo("9216Mi");
    assertThat(world.condition("Ready")).startsWith("False/MakingRoom");
    assertThat(Objects.requireNonNull(world.status().getRoom()).originalLimit()).isEqualTo("4Gi");

    world.agent(OperationType.CHECKPOINT, 1).works("lock", WorkloadState.FROZEN);
    world.settle();
    assertThat(limit()).isEqualTo("9216Mi");
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    assertThat(limit()).isEqualTo("4Gi");
    assertThat(request()).isEqualTo("2Gi");
    assertThat(world.condition("RoomReturned")).startsWith("True/LimitReturned");
    assertThat(world.condition("Ready")).startsWith("True/");
  }

  @Test
  void aRefusalOfTheApiServerIsReportedBeforeTheFreeze() {
    world.agent(OperationType.CHECKPOINT, 1).asksForRoom(9 * GIB, 4 * GIB);
    world.resizeAnswer = new PodWrites.Refused("exceeded quota: mem", false);
    world.settle();
    assertThat(world.asked).map(ask -> ((Question.Resize) ask).dryRun()).containsOnly(true);
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();

    world
        .agent(OperationType.CHECKPOINT, 1)
        .fails(Outcome.REFUSED, "Cancelled", ConditionValue.TRUE);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Failed"))
        .isEqualTo(
            "True/NoRoom: resize of container main: expected memory limit 9216Mi,"
                + " got exceeded quota: mem");
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
    assertThat(limit()).isEqualTo("4Gi");
  }

  @Test
  void aNodeWithoutMemoryRefusesWithoutAsking() {
    world.agent(OperationType.CHECKPOINT, 1).asksForRoom(900 * GIB, 4 * GIB);
    Objects.requireNonNull(
        world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getStatus().getRoom());
    world.cluster.nodes.set(0, Samples.node("gpu-17"));
    world
        .operation(OperationType.CHECKPOINT, 1)
        .orElseThrow()
        .getStatus()
        .setRoom(
            new dev.stasis.api.v1beta1.common.Room(900 * GIB, 2 * GIB, 4 * GIB, null, 10 * GIB));
    world.settle();

    assertThat(world.asked).isEmpty();
    assertThat(world.status().getMessage()).contains("node gpu-17").contains("898.0Gi free");
    assertThat(world.operation(OperationType.CHECKPOINT, 1).orElseThrow().getSpec().getCancel())
        .isTrue();
  }

  @Test
  void aLimitThatCannotBeReturnedFailsNothingAndIsTriedAgain() {
    world.agent(OperationType.CHECKPOINT, 1).asksForRoom(9 * GIB, 4 * GIB);
    world.settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.resizeAnswer = new PodWrites.Refused("memory limits cannot be decreased", false);
    world.settle();
    assertThat(world.condition("Ready")).startsWith("True/");
    assertThat(world.condition("RoomReturned"))
        .startsWith("False/LimitRaised")
        .contains("memory limits cannot be decreased");

    world.later(Duration.ofMinutes(1));
    world.resizeAnswer = new PodWrites.Accepted();
    world.settle();
    assertThat(world.condition("RoomReturned")).startsWith("True/");
    assertThat(limit()).isEqualTo("4Gi");
  }

  /** The agent inspects once more after the hooks; the limit was raised for the first report. */
  @Test
  void aSecondInspectionThatNeedsLessDoesNotKeepTheLimitRaised() {
    world.agent(OperationType.CHECKPOINT, 1).asksForRoom(9 * GIB, 4 * GIB);
    world.settle();
    assertThat(limit()).isEqualTo("9216Mi");
    world
        .operation(OperationType.CHECKPOINT, 1)
        .orElseThrow()
        .getStatus()
        .setRoom(new Room(8 * GIB, 4 * GIB, 9 * GIB, "9216Mi", 64 * GIB));
    world.settle();

    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();

    assertThat(limit()).isEqualTo("4Gi");
  }

  @Test
  void theLimitStaysRaisedWhileTheDeviceMemoryLiesInThePod() {
    World suspended = Samples.world(AfterCheckpoint.SUSPEND).settle();
    suspended.agent(OperationType.SUSPEND, 1).asksForRoom(9 * GIB, 4 * GIB);
    suspended.settle();
    suspended.agent(OperationType.SUSPEND, 1).succeeds(WorkloadState.SUSPENDED);
    suspended.settle();
    assertThat(Samples.memory(suspended.pod()).get("memory")).hasToString("9216Mi");

    suspended.checkpoint.getSpec().setDesiredState(DesiredState.RUNNING);
    suspended.settle();
    suspended.agent(OperationType.RESUME, 1).succeeds(WorkloadState.RUNNING);
    suspended.settle();
    assertThat(Samples.memory(suspended.pod()).get("memory")).hasToString("4Gi");
  }

  private String limit() {
    return Objects.requireNonNull(Samples.memory(world.pod()).get("memory")).toString();
  }

  private String request() {
    var resources = world.pod().getSpec().getContainers().get(0).getResources();
    return String.valueOf(resources.getRequests().get("memory"));
  }
}
