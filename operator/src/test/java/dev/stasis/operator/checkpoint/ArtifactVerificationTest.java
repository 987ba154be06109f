package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.testing.TestConfig;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Stored artifacts are read now and then, and damage is reported. */
class ArtifactVerificationTest {

  private static final Duration WEEK = Duration.ofDays(7);

  private static World ready() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();
    world.agent(OperationType.CHECKPOINT, 1).succeeds(WorkloadState.RUNNING);
    return world.settle();
  }

  /** Time passes, and the agent reports meanwhile. */
  private static void later(World world, Duration time) {
    world.later(time);
    world.cluster.gpuNodes.clear();
    world.cluster.gpuNodes.add(Samples.gpuNode("gpu-17", world.now));
    world.settle();
  }

  private static boolean isVerifying(World world) {
    return world.operation(OperationType.VERIFY, 1).isPresent();
  }

  private static void finds(World world, String reason) {
    world
        .agent(OperationType.VERIFY, 1)
        .fails(Outcome.UNDONE, reason, ConditionValue.UNKNOWN)
        .endsNow();
    world.settle();
  }

  private static void findsItWhole(World world) {
    world.agent(OperationType.VERIFY, 1).succeeds(WorkloadState.UNKNOWN).endsNow();
    world.settle();
  }

  @Test
  void anArtifactIsVerifiedAWeekAfterItWasWrittenAndThenEveryWeek() {
    World world = ready();
    later(world, WEEK.minusMinutes(1));
    assertThat(isVerifying(world)).isFalse();

    later(world, Duration.ofMinutes(1));
    var order = world.operation(OperationType.VERIFY, 1).orElseThrow().getSpec();
    assertThat(order.getNodeName()).isEqualTo("gpu-17");
    assertThat(Objects.requireNonNull(order.getArtifact()).sha256()).isEqualTo("9ab1");
    findsItWhole(world);

    assertThat(isVerifying(world)).as("it is over").isFalse();
    assertThat(world.status().getLastVerified()).isEqualTo(world.now);
    assertThat(world.condition("Restorable")).startsWith("True/");
    later(world, WEEK.minusMinutes(1));
    assertThat(isVerifying(world)).isFalse();
    later(world, Duration.ofMinutes(1));
    assertThat(isVerifying(world)).isTrue();
  }

  @Test
  void damageIsReportedUntilAVerificationFindsTheArtifactWhole() {
    World world = ready();
    later(world, WEEK);
    finds(world, "ArtifactDamaged");

    assertThat(world.condition("Restorable")).isEqualTo("False/ArtifactDamaged: said by the agent");
    assertThat(world.condition("Ready")).startsWith("True/");
    assertThat(world.status().getLastVerified()).isEqualTo(world.now);
    assertThat(world.status().getNodesFit()).isZero();
    assertThat(world.stories)
        .anySatisfy(
            story -> {
              assertThat(story.warning()).isTrue();
              assertThat(story.reason().value()).isEqualTo("ArtifactDamaged");
            });
    later(world, Duration.ofHours(23));
    assertThat(world.condition("Restorable")).as("no node changes it").startsWith("False/Artifact");
    assertThat(isVerifying(world)).isFalse();

    later(world, Duration.ofHours(1));
    findsItWhole(world);
    assertThat(world.condition("Restorable")).startsWith("True/NodesFit");
  }

  @Test
  void aStoreThatCannotBeReadIsNoDamageAndIsReadAgainAfterAnHour() {
    World world = ready();
    later(world, WEEK);
    finds(world, "StoreUnreachable");

    assertThat(world.condition("Restorable")).startsWith("True/");
    assertThat(world.status().getLastVerified()).isNull();
    assertThat(world.stories)
        .anySatisfy(it -> assertThat(it.reason().value()).isEqualTo("NotVerified"));
    later(world, Duration.ofHours(1));
    assertThat(world.operation(OperationType.VERIFY, 1).orElseThrow().getStatus()).isNull();
  }

  @Test
  void oneArtifactAtATimeIsVerifiedOnANode() {
    World world = ready();
    later(world, WEEK);
    var other = world.operation(OperationType.VERIFY, 1).orElseThrow();
    world.cluster.operations.clear();
    other.getMetadata().setName("ckpt-other-verify-1");
    other
        .getSpec()
        .setRequester(
            new dev.stasis.api.v1beta1.common.ObjectReference(
                "GpuCheckpoint", "ml", "other", "uid-2"));
    world.cluster.operations.put("ckpt-other-verify-1", other);

    world.settle();

    assertThat(isVerifying(world)).isFalse();
    assertThat(world.again).isLessThanOrEqualTo(Duration.ofMinutes(10));
  }

  @Test
  void withoutAnIntervalNothingIsVerified() {
    World world = ready();
    world.config = new TestConfig("stasis-system", Duration.ofSeconds(15), Duration.ZERO);

    later(world, WEEK.multipliedBy(10));

    assertThat(isVerifying(world)).isFalse();
  }

  @Test
  void anArtifactIsNotVerifiedWhileItIsUploaded() {
    World world = Samples.world(AfterCheckpoint.RESUME).settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .succeeds(WorkloadState.RUNNING)
        .intoRemoteStore(StoreDurability.REMOTE);
    world.settle();

    later(world, WEEK);
    assertThat(isVerifying(world)).isFalse();

    world.agent(OperationType.UPLOAD, 1).uploads(7, 5);
    world.settle();
    assertThat(isVerifying(world)).isTrue();
  }

  @Test
  void aDeletionEndsTheVerification() {
    World world = ready();
    later(world, WEEK);
    world.agent(OperationType.VERIFY, 1).works("verify", WorkloadState.UNKNOWN);
    world.delete();
    world.settle();
    assertThat(world.operation(OperationType.VERIFY, 1).orElseThrow().getSpec().getCancel())
        .isTrue();

    world.agent(OperationType.VERIFY, 1).ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    world.settle();

    assertThat(world.operation(OperationType.DELETE_ARTIFACT, 1)).isPresent();
  }
}
