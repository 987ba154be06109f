package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.time.Clock;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a journal says about an operation is enough to continue it. */
class ActiveOperationTest {

  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private final GpuNodeOperation order = Orders.ofSomebody().delete();

  private ActiveOperation operation(OperationStage stage) {
    order.getMetadata().setAnnotations(Map.of(Api.TRACEPARENT_ANNOTATION, PARENT));
    return Orders.active(order, stage);
  }

  private static ActiveOperation recovered(ObjectNode description) throws IOException {
    return ActiveOperation.recovered(Clock.systemUTC(), new OperationJson().operation(description));
  }

  @ParameterizedTest
  @CsvSource({
    "CLAIMED, BEGUN",
    "RUNNING, BEGUN",
    "UNDOING, BEGUN",
    "HELD, HELD",
    "SUCCEEDED, ENDED"
  })
  void aSuccessorContinuesWithWhatTheJournalSays(OperationPhase phase, OperationStage stage)
      throws IOException {
    ActiveOperation before = operation(OperationStage.BEGUN);
    before.change(
        status -> {
          status.setPhase(phase);
          status.setContainerId("container");
        });
    ObjectNode description = (ObjectNode) before.description();
    description.put("ofANewerAgent", 1);

    ActiveOperation after = recovered(description);

    assertThat(after.stage()).isEqualTo(stage);
    assertThat(after.name()).isEqualTo(before.name());
    assertThat(after.uid()).isEqualTo(before.uid());
    assertThat(after.created()).isEqualTo(before.created());
    assertThat(after.deadline()).isEqualTo(before.deadline());
    assertThat(after.isOfBoot("boot")).isTrue();
    assertThat(after.isOfBoot("another-boot")).isFalse();
    assertThat(after.parent()).isPresent().isEqualTo(before.parent());
    assertThat(after.description()).isEqualTo(before.description());
  }

  @Test
  void anUnclaimedOperationIsNotRecovered() {
    ObjectNode description = (ObjectNode) operation(OperationStage.CLAIMED).description();
    Objects.requireNonNull((ObjectNode) description.get("status")).remove("claimedBy");

    assertThatThrownBy(() -> recovered(description)).isInstanceOf(RuntimeException.class);
  }

  /** What is suspended or held is meant to be frozen, and what is gone cannot be thawed. */
  @ParameterizedTest
  @CsvSource({
    "ENDED, FAILED, NOT_UNDONE, FROZEN, true",
    "ENDED, FAILED, NOT_UNDONE, UNKNOWN, true",
    "HELD, FAILED, NOT_UNDONE, FROZEN, false",
    "ENDED, SUCCEEDED, NOT_UNDONE, FROZEN, false",
    "ENDED, FAILED, UNDONE, FROZEN, false",
    "ENDED, FAILED, NOT_UNDONE, SUSPENDED, false",
    "ENDED, FAILED, NOT_UNDONE, RUNNING, false",
  })
  void onlyAFailedFreezeThatCouldNotBeUndoneIsThawedAgain(
      OperationStage stage,
      OperationPhase phase,
      Outcome outcome,
      WorkloadState workload,
      boolean thawed) {
    ActiveOperation operation = operation(stage);
    operation.change(
        status -> {
          status.setPhase(phase);
          status.setOutcome(outcome);
          status.setWorkload(workload);
        });
    assertThat(operation.leftFrozen()).as("a deletion").isFalse();

    order.getSpec().setFreeze(new FreezeOrder());
    assertThat(operation.leftFrozen()).isEqualTo(thawed);
  }
}
