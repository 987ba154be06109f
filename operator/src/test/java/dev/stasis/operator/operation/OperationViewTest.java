package dev.stasis.operator.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import org.junit.jupiter.api.Test;

class OperationViewTest {

  private final GpuNodeOperationStatus status = new GpuNodeOperationStatus();

  @Test
  void aReportWithValuesOfANewerAgentIsNotTheEnd() {
    status.setPhase(OperationPhase.SUCCEEDED);
    status.setOutcome(Outcome.DONE);
    status.setWorkload(WorkloadState.RUNNING);
    assertThat(view().isFinal()).isTrue();
    assertThat(view().succeeded()).isTrue();

    status.setWorkload(WorkloadState.UNRECOGNIZED);
    assertThat(view().isFinal()).isFalse();
    assertThat(view().succeeded()).isFalse();

    status.setWorkload(WorkloadState.RUNNING);
    status.setOutcome(Outcome.UNRECOGNIZED);
    assertThat(view().isFinal()).isFalse();

    status.setPhase(OperationPhase.UNRECOGNIZED);
    status.setOutcome(Outcome.DONE);
    assertThat(view().isFinal()).isFalse();
  }

  private OperationView view() {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setStatus(status);
    return OperationView.of(operation);
  }
}
