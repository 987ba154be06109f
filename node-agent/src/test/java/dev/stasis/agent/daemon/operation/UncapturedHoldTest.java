package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An agent ends while it freezes a workload that is to be held, before its capture is complete. */
class UncapturedHoldTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab();

  private final Orders orders = Orders.ofSomebody();

  /** A store that does not answer would keep it frozen. What it finds there shows that it reads. */
  @Test
  void itsStoreIsNotReadBeforeItIsThawed() throws Exception {
    String name =
        workload.order(
            orders.checkpoint(workload.source(), how -> how.setAfterwards(Afterwards.HOLD)));
    DaemonChild.dies(workload.lab(), "BEFORE_WRITE", "Held");
    Work work = workload.inHand().get(0);
    assertThat(work.phase()).isEqualTo(Work.Phase.HELD);
    Path folder = workload.lab().engine().state().resolve("work").resolve(work.containerId());
    Files.delete(folder.resolve("capture.json"));
    Path journal = folder.resolve("work.json");
    Files.writeString(journal, Files.readString(journal).replace("\"HELD\"", "\"WORKING\""));

    workload.lab().start();

    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getArtifact()).isNull();
    workload.deleteArtifact(orders);
  }
}
