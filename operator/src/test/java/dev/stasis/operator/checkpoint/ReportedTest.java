package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.api.v1beta1.store.Quota;
import dev.stasis.operator.checkpoint.World.Reconciliation;
import dev.stasis.operator.pod.Template;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What an agent reports becomes a status only where the operator does not know it itself. */
class ReportedTest {

  @Test
  void aRequestAndItsAcceptanceMayWaitAndTheFreezeIsReportedImmediately() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();
    assertThat(world.look().mayWait()).isEqualTo(Duration.ofSeconds(30));
    world.checkpoint.setStatus(null);
    assertThat(world.look().mayWait()).isZero();

    world.agent(OperationType.CHECKPOINT, 1).claims();
    assertThat(world.look().mayWait()).isEqualTo(Duration.ofSeconds(30));
    Instant heard = world.now;
    world.now = heard.plus(Duration.ofMinutes(10));
    assertThat(world.look().mayWait()).isZero();
    world.now = heard;

    world.agent(OperationType.CHECKPOINT, 1).asksForRoom(2, 1);
    assertThat(world.look().mayWait()).isZero();

    world.agent(OperationType.CHECKPOINT, 1).works("lock", WorkloadState.FROZEN);
    assertThat(world.look().mayWait()).isZero();
  }

  @Test
  void anOperatorThatRestartsBeforeItsFirstWriteReportsAnUntouchedWorkload() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();
    world.checkpoint.setStatus(null);
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
    world.agent(OperationType.CHECKPOINT, 1).claims();
    world.checkpoint.setStatus(null);
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
    assertThat(world.status().getPod()).isNotNull();
  }

  /** The operation may have ended a second later, and nothing else has the reason. */
  @Test
  void theReasonForACancellationIsWrittenImmediately() {
    World world = Samples.world(AfterCheckpoint.RESUME);
    world.cluster.stores.get(0).getSpec().setQuota(new Quota(new Quantity("1Gi"), null, null));
    world.settle();

    world.agent(OperationType.CHECKPOINT, 1).claims().expects(2L << 30);
    Reconciliation refused = world.look();

    assertThat(refused.acts()).hasAtLeastOneElementOfType(Act.Cancel.class);
    assertThat(refused.mayWait()).isZero();
  }

  @Test
  void anAgentNeverMovesAnArtifactAndSoNeverHasAnotherOneDeleted() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    ArtifactStatus lie = reported(world);
    lie.setStore("another");
    lie.setNode("gpu-18");
    lie.setLocation("ml/somebody-elses");
    lie.setUid("uid-2");
    world.settle();

    ArtifactStatus artifact = Objects.requireNonNull(world.status().getArtifact());
    assertThat(artifact.getStore()).isEqualTo("local");
    assertThat(artifact.getNode()).isEqualTo("gpu-17");
    assertThat(artifact.getLocation()).isEqualTo("ml/train-1-uid-1");
    assertThat(artifact.getUid()).isNull();

    world.delete();
    world.settle();

    var order = world.operation(OperationType.DELETE_ARTIFACT, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(order.getArtifact())
        .isEqualTo(new ArtifactReference("local", "ml/train-1-uid-1", "ml", "uid-1", "9ab1"));
  }

  @Test
  void aCommandLineIsKeptAsThePodHasItWhateverTheAgentReports() {
    World world = worldOfTokenInArgs();
    GpuNodeOperation operation = world.operation(OperationType.CHECKPOINT, 1).orElseThrow();
    world.agent(OperationType.CHECKPOINT, 1).claims();
    operation.getStatus().setArgv(List.of("/entrypoint", "--token=s3cret"));
    world.settle();
    assertThat(world.status().getArgv()).containsExactly("/entrypoint", "--token=$(TOKEN)");

    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.READY);
    assertThat(world.serialization.asJson(world.status())).doesNotContain("s3cret");
    assertThat(world.status().getArgv()).containsExactly("/entrypoint", "--token=$(TOKEN)");
  }

  @Test
  void anObjectOfAnOlderOperatorLosesTheSecretInItsStatus() {
    World world = worldOfTokenInArgs();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    world.settle();
    world.status().setArgv(List.of("/entrypoint", "--token=s3cret"));

    world.settle();

    assertThat(world.status().getArgv()).containsExactly("/entrypoint", "--token=$(TOKEN)");
  }

  private static World worldOfTokenInArgs() {
    World world = Samples.world(AfterCheckpoint.RESUME);
    Container main = world.cluster.pods.get(0).getSpec().getContainers().get(0);
    main.setArgs(List.of("--token=$(TOKEN)"));
    return world.settle();
  }

  private static ArtifactStatus reported(World world) {
    GpuNodeOperation operation = world.operation(OperationType.CHECKPOINT, 1).orElseThrow();
    return Objects.requireNonNull(operation.getStatus().getArtifact());
  }

  @Test
  void aFreezeIsNeverReportedAsAnImport() {
    assertThat(phasesUntil(CheckpointPhase.READY))
        .containsExactly(
            CheckpointPhase.PENDING,
            CheckpointPhase.FREEZING,
            CheckpointPhase.SAVING,
            CheckpointPhase.READY);
    assertThat(phasesUntil(CheckpointPhase.IMPORTING))
        .containsExactly(CheckpointPhase.PENDING, CheckpointPhase.IMPORTING);
  }

  private static List<CheckpointPhase> phasesUntil(CheckpointPhase phase) {
    World world = Samples.world(AfterCheckpoint.RESUME);
    world.checkpoint.setStatus(new GpuCheckpointStatus());
    UnexpandedCommands commands = new UnexpandedCommands(new Template(world.serialization));
    new CheckpointStatusUpdater(world.checkpoint, commands, world.now).transitionTo(phase);
    return Objects.requireNonNull(world.status().getPhases()).stream()
        .map(PhaseTime::phase)
        .toList();
  }
}
