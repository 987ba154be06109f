package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An agent refuses a checkpoint before it freezes the workload. */
class RefusedCheckpointTest {

  private final World world = Samples.world(AfterCheckpoint.RESUME);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ProbeTooShort",
        "StoreKmsUnreachable",
        "StoreKmsUnhealthy",
        "StoreKmsKeyMismatch",
        "StoreKmsInvalidResponse",
        "StoreMissingKey",
        "StoreWrongKey"
      })
  void aRefusalOfTheAgentFailsTheCheckpointWithItsReason(String reason) {
    world.settle();
    world
        .agent(OperationType.CHECKPOINT, 1)
        .claims()
        .fails(Outcome.REFUSED, reason, ConditionValue.TRUE);
    world.settle();

    assertThat(world.phase()).isEqualTo(CheckpointPhase.FAILED);
    assertThat(world.condition("Ready")).isEqualTo("False/" + reason + ": p: expected w, got f");
    assertThat(world.condition("SourceRunning")).startsWith("True/Untouched");
    assertThat(world.operations()).isEmpty();
  }
}
