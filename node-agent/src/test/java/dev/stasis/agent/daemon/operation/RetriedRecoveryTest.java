package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.StuckRestores;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.Sh;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
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
  private @Nullable Path mounted;

  private String checkpoint(Afterwards afterwards) {
    return workload.order(
        orders.checkpoint(workload.source(), how -> how.setAfterwards(afterwards)));
  }

  private static Path journalsFolder() {
    Work work = workload.inHand().get(0);
    return workload.lab().engine().state().resolve("work").resolve(work.containerId());
  }

  /** Makes the folder of the journal one that cannot be removed. */
  private void keepTheJournalsFolder() throws Exception {
    busy = Files.createDirectories(journalsFolder().resolve("busy"));
    new Sh().must("mount", "-t", "tmpfs", "none", busy.toString());
  }

  /** Makes the journal one that can only be read. */
  private void keepTheJournal() {
    Path journal = journalsFolder().resolve("work.json");
    new Sh().must("mount", "--bind", journal.toString(), journal.toString());
    mounted = journal;
  }

  @AfterEach
  void freeTheJournal() {
    if (mounted != null) {
      new Sh().must("umount", mounted.toString());
      mounted = null;
    }
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

  /** Its artifact is published, and its workload runs. */
  @Test
  void aCheckpointWhoseJournalsFolderCannotBeRemovedSucceeds() throws Exception {
    workload.lab().engine().gpus().fault("restore", "hold");
    workload.lab().start();
    String name = checkpoint(Afterwards.RESUME);
    workload.lab().awaitHeld("restore");
    keepTheJournalsFolder();
    workload.lab().engine().gpus().release("restore");
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    workload.deleteArtifact(orders);
  }

  @Test
  void aFreezeThatCannotBeUndoneAtFirstIsUndoneLaterByTheSameAgent() throws Exception {
    workload.lab().engine().gpus().fault("checkpoint", "hold");
    workload.lab().start();
    String name = checkpoint(Afterwards.RESUME);
    workload.lab().awaitHeld("checkpoint");
    keepTheJournal();
    workload.lab().engine().gpus().release("checkpoint");
    workload.lab().cluster().await(name, OperationPhase.UNDOING);
    // Long enough for the undo to fail, and to be tried again: every three seconds.
    Awaitility.await()
        .during(Duration.ofSeconds(5))
        .atMost(FileCluster.LIMIT)
        .until(() -> workload.lab().cluster().status(name).getOutcome() == null);
    freeTheJournal();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    undone(status);
    assertThat(status.getReason()).isEqualTo("Internal");
  }

  /** Otherwise its artifact could not be deleted until the next agent. */
  @Test
  void aRestoreThatCannotBeUndoneAtFirstIsEndedLaterByTheSameAgent() throws Exception {
    AgentLab lab = workload.lab();
    lab.start(StuckRestores.on(lab.engine()));
    GpuNodeOperationStatus saved = lab.cluster().awaitEnd(checkpoint(Afterwards.RESUME));
    String fingerprint =
        Objects.requireNonNull(Objects.requireNonNull(saved.getHardware()).fingerprint());
    String sha256 = Objects.requireNonNull(Objects.requireNonNull(saved.getArtifact()).getSha256());
    try (AgentLab.Placed target =
        lab.pod(
            "target",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "16", "--interval-ms", "100")
                .asHolder(),
            orders.labels())) {
      GpuNodeOperationStatus status =
          lab.cluster().awaitEnd(workload.order(orders.restore(target, fingerprint, sha256)));
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.NOT_UNDONE);
      assertThat(status.getWorkload()).isEqualTo(WorkloadState.UNKNOWN);

      Awaitility.await("the end of what the restore has left")
          .atMost(FileCluster.LIMIT)
          .until(() -> workload.inHand().isEmpty());
      assertThat(lab.engine().engine().look().at(target.container().id()).processes())
          .as("processes in the target")
          .isLessThanOrEqualTo(1);
    }
    workload.deleteArtifact(orders);
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
