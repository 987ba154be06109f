package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.EngineLab;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An agent ends while it freezes a workload that is to be held, before its capture is complete. */
class UncapturedHoldTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab();

  private final Orders orders = Orders.ofSomebody();

  /** A store that does not answer would keep it frozen. With this artifact it would be held. */
  @Test
  void itsStoreIsNotReadBeforeItIsThawed() throws Exception {
    String name =
        workload.order(
            orders.checkpoint(workload.source(), how -> how.setAfterwards(Afterwards.HOLD)));
    DaemonChild.dies(workload.lab(), "CAPTURED", "");
    Work work = workload.inHand().get(0);
    assertThat(work.phase()).isEqualTo(Work.Phase.WORKING);
    EngineLab lab = workload.lab().engine();
    assertThat(lab.engine().interruptedPublication().complete(work)).isTrue();
    Files.delete(lab.state().resolve("work").resolve(work.containerId()).resolve("capture.json"));

    workload.lab().start();

    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getArtifact()).isNull();
    workload.deleteArtifact(orders);
  }
}
