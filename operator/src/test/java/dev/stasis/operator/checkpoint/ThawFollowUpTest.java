package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.status.Reason;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A workload that its agent could not thaw: object and pod say what is so, until it is not. */
class ThawFollowUpTest {

  private final World world = Samples.world(AfterCheckpoint.RESUME).settle();

  private PodConditionUpdate mark() {
    return world.marks.get(world.marks.size() - 1);
  }

  private FakeAgent agent() {
    return world.agent(OperationType.CHECKPOINT, 1);
  }

  private void leftFrozen() {
    agent().leavesFrozen();
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
  }

  private void standsStill() {
    assertThat(world.condition("SourceRunning"))
        .startsWith("False/NotThawed: it is still frozen, and its agent retries the thaw");
    assertThat(mark().status()).isTrue();
    assertThat(mark().reason()).isEqualTo("NotThawed");
    assertThat(mark().message()).contains("GpuCheckpoint train-1").contains("said by the agent");
    // There its agent says when it runs.
    assertThat(world.operations()).hasSize(1);
  }

  @Test
  void aWorkloadIsReportedAsFrozenUntilItRuns() {
    leftFrozen();
    standsStill();
    assertThat(world.condition("Failed")).startsWith("True/");
    world.later(Duration.ofHours(3));
    world.settle();
    standsStill();
    assertThat(world.stories)
        .filteredOn(story -> story.reason() == Reason.NOT_THAWED)
        .extracting(Story::warning)
        .containsOnly(true);
  }

  @Test
  void onceItRunsEverythingIsCorrected() {
    leftFrozen();
    world.later(Duration.ofMinutes(3));
    agent().corrects(WorkloadState.RUNNING, ConditionValue.TRUE);
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("SourceRunning"))
        .isEqualTo(
            "True/Thawed: the workload is running since 2026-11-21T10:03:00Z: thawed by its agent");
    assertThat(mark().status()).isFalse();
    assertThat(mark().reason()).isEqualTo("Thawed");
    assertThat(world.stories).extracting(Story::reason).contains(Reason.THAWED);
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void aFrozenWorkloadThatEndsIsLost() {
    leftFrozen();
    agent().corrects(WorkloadState.ENDED, ConditionValue.FALSE);
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("False/WorkloadLost");
    assertThat(mark().status()).isFalse();
    assertThat(world.operations()).isEmpty();
  }

  /** Otherwise the object of an eviction or a preemption would be kept forever. */
  @Test
  void aWorkloadThatWasNeverFrozenIsReportedAsUntouchedOnceItsSilentAgentAnswers() {
    agent().claims();
    world.settle();
    world.later(Duration.ofHours(2));
    world.settle();
    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("SourceRunning")).startsWith("Unknown/NodeSilent");

    agent().ends(OperationPhase.CANCELLED, Outcome.UNDONE);
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void anArtifactThatIsPublishedLaterIsNamed() {
    leftFrozen();
    assertThat(world.status().getArtifact()).isNull();
    agent().publishesLate();
    world.settle();
    standsStill();
    assertThat(world.status().getArtifact()).isNotNull();
  }

  @Test
  void anArtifactThatIsPublishedAfterTheEndOfItsWorkloadIsNamed() {
    leftFrozen();
    agent().publishesLate().corrects(WorkloadState.ENDED, ConditionValue.FALSE);
    world.settle();
    assertThat(world.status().getArtifact()).isNotNull();
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void anArtifactThatIsPublishedBeforeThePodIsGoneIsNamed() {
    leftFrozen();
    agent().publishesLate();
    world.cluster.pods.clear();
    world.settle();
    assertThat(world.status().getArtifact()).isNotNull();
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void withoutItsPodNobodyWaits() {
    leftFrozen();
    world.cluster.pods.clear();
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("False/WorkloadLost: the pod");
    assertThat(world.operations()).isEmpty();
  }

  @Test
  void anUnknownStateIsNotReportedAsRunning() {
    agent().leavesFrozen().corrects(WorkloadState.UNKNOWN, ConditionValue.UNKNOWN);
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("Unknown/NotThawed");
    assertThat(mark().status()).isTrue();
    assertThat(world.operations()).hasSize(1);
  }

  @Test
  void theObjectGoesOnlyOnceTheWorkloadRuns() {
    leftFrozen();
    world.delete();
    world.settle();
    assertThat(world.gone).isFalse();
    standsStill();

    agent().corrects(WorkloadState.RUNNING, ConditionValue.TRUE);
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(mark().status()).isFalse();
  }

  @Test
  void anObjectThatIsDeletedDoesNotWaitForeverForASilentAgent() {
    leftFrozen();
    world.later(Duration.ofMinutes(5));
    world.delete();
    world.later(Duration.ofMinutes(16));
    world.settle();
    assertThat(world.gone).isTrue();
    assertThat(mark().status()).as("nobody has seen it run").isTrue();
    assertThat(world.stories).extracting(Story::reason).contains(Reason.RELEASED);
  }

  /** The object has failed since its agent was silent; then the agent is back. */
  @Test
  void aLaterThawOfASilentAgentIsReported() {
    agent().works("dump", WorkloadState.FROZEN);
    world.settle();
    world.later(Duration.ofHours(2));
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("Unknown/NodeSilent");
    assertThat(mark().status()).isTrue();

    agent().fails(Outcome.UNDONE, "Cancelled", ConditionValue.TRUE);
    agent().corrects(WorkloadState.RUNNING, ConditionValue.TRUE);
    world.settle();
    assertThat(world.condition("SourceRunning")).startsWith("True/Thawed");
    assertThat(mark().status()).isFalse();
    assertThat(world.operations()).isEmpty();
  }
}
