package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.Sh;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A recovery that fails is tried again by the same agent, so that no workload stays frozen. */
class RetriedRecoveryTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab();

  private final Orders orders = Orders.ofSomebody();
  private @Nullable Path busy;

  private String checkpoint(Afterwards afterwards) {
    return workload.order(
        orders.checkpoint(workload.source(), how -> how.setAfterwards(afterwards)));
  }

  /** Makes the folder of the journal one that cannot be removed. */
  private void keepTheJournalsFolder() throws Exception {
    Work work = workload.inHand().get(0);
    Path journal = workload.lab().engine().state().resolve("work").resolve(work.containerId());
    busy = Files.createDirectories(journal.resolve("busy"));
    new Sh().must("mount", "-t", "tmpfs", "none", busy.toString());
  }

  @AfterEach
  void freeTheJournalsFolder() throws Exception {
    if (busy != null) {
      workload.lab().stop();
      new Sh().must("umount", busy.toString());
      Files.delete(busy);
      Files.deleteIfExists(busy.resolveSibling("work.json"));
      Files.delete(busy.getParent());
    }
  }

  private static void undone(GpuNodeOperationStatus status) {
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
  }

  @Test
  void anInterruptedFreezeWhoseJournalCannotBeRemovedEnds() throws Exception {
    String name = checkpoint(Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), "AFTER", "gpu-checkpoint");
    keepTheJournalsFolder();
    workload.lab().start();
    undone(workload.lab().cluster().awaitEnd(name));
  }

  @Test
  void aCancelledHoldWhoseJournalCannotBeRemovedEnds() throws Exception {
    String name = checkpoint(Afterwards.HOLD);
    workload.lab().start();
    workload.lab().cluster().await(name, OperationPhase.HELD);
    keepTheJournalsFolder();
    workload.lab().cluster().edit(name, operation -> operation.getSpec().setCancel(true));
    undone(workload.lab().cluster().awaitEnd(name));
  }

  @Test
  void aFrozenWorkloadWithoutAnOperationIsThawedAfterAThawThatFailed() throws Exception {
    String name = workload.order(orders.suspend(workload.source()));
    DaemonChild.dies(workload.lab(), "AFTER_WRITE", "Succeeded");
    workload.lab().cluster().remove(name);
    workload.lab().engine().gpus().fault("unlock", "error 999");
    workload.lab().start();
    Awaitility.await("the second thaw of a workload without an operation")
        .atMost(FileCluster.LIMIT)
        .until(() -> workload.inHand().isEmpty());
  }
}
