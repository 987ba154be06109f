package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.IdleChild;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A workload that has stopped one of its processes runs, and is reported so. */
class StoppedChildReportTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab(IdleChild.OPTION);

  @BeforeEach
  void stopTheChild() {
    new IdleChild(workload.source().container().pid()).stop();
  }

  private static String checkpoint() {
    return workload.order(Orders.ofSomebody().checkpoint(workload.source(), how -> {}));
  }

  @Test
  void itRunsAfterItsCheckpoint() throws Exception {
    workload.lab().start();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(checkpoint());
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
  }

  @Test
  void itsThawIsNotRetriedAfterItRuns() throws Exception {
    workload.lab().engine().gpus().fault("unlock", "error 999 always");
    workload.lab().start();
    String name = checkpoint();
    assertThat(workload.lab().cluster().awaitEnd(name).getWorkload())
        .isEqualTo(WorkloadState.FROZEN);
    workload.lab().engine().gpus().mend("unlock");
    GpuNodeOperationStatus status =
        workload.lab().cluster().await(name, said -> said.getWorkload() == WorkloadState.RUNNING);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
  }
}
