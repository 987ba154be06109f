package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.List;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An agent ends before the API server has stored what it did. Its successor has the journals of
 * frozen workloads, and sees the rest: it repeats nothing and calls nothing lost.
 */
class UnreportedResultTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab("--fork", "1");

  private final Orders orders = Orders.ofSomebody();

  private String checkpoint(AgentLab.Placed pod, Afterwards afterwards) {
    return workload.order(orders.checkpoint(pod, how -> how.setAfterwards(afterwards)));
  }

  /** The API server has not stored more than this. */
  private static void stored(String name, OperationPhase phase) {
    GpuNodeOperationStatus status =
        workload.lab().cluster().history(name).stream()
            .filter(said -> said.getPhase() == phase)
            .reduce((first, last) -> last)
            .orElseThrow();
    workload.lab().cluster().edit(name, operation -> operation.setStatus(status));
  }

  private static List<WorkloadState> states(String name) {
    return workload.lab().cluster().history(name).stream()
        .map(GpuNodeOperationStatus::getWorkload)
        .filter(Objects::nonNull)
        .toList();
  }

  @Test
  void aCheckpointThatIsDoneIsNotMadeAgain() throws Exception {
    workload.lab().start();
    String name = checkpoint(workload.source(), Afterwards.RESUME);
    GpuNodeOperationStatus done = workload.lab().cluster().awaitEnd(name);
    workload.lab().stop();
    stored(name, OperationPhase.CLAIMED);
    int before = states(name).size();

    workload.lab().start();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);

    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(Objects.requireNonNull(status.getArtifact()).getSha256())
        .isEqualTo(Objects.requireNonNull(done.getArtifact()).getSha256());
    List<WorkloadState> states = states(name);
    assertThat(states.subList(before, states.size())).containsOnly(WorkloadState.RUNNING);
    workload.deleteArtifact(orders);
  }

  @Test
  void aCancelledOperationIsNotStarted() throws Exception {
    String name = checkpoint(workload.source(), Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), "AFTER_WRITE", "Claimed");
    workload.lab().cluster().edit(name, operation -> operation.getSpec().setCancel(true));

    workload.lab().start();

    assertThat(workload.lab().cluster().awaitEnd(name).getPhase())
        .isEqualTo(OperationPhase.CANCELLED);
    assertThat(states(name)).doesNotContain(WorkloadState.FROZEN);
  }

  @Test
  void aFreezeIsUndoneWithoutAnAnswerOfTheApiServer() throws Exception {
    String name = checkpoint(workload.source(), Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), "AFTER", "gpu-checkpoint");
    workload.lab().cluster().goAway();

    workload.lab().start();
    Awaitility.await("the thaw").atMost(FileCluster.LIMIT).until(() -> workload.inHand().isEmpty());
    workload.source().container().awaitSteps(3);

    workload.lab().cluster().comeBack();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    assertThat(status.getReason()).isEqualTo("AgentRestarted");
    assertThat(status.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getClaimedBy()).isNotNull();
  }

  @Test
  void anOrderedThawIsNoFailure() throws Exception {
    workload.lab().start();
    String held = checkpoint(workload.source(), Afterwards.HOLD);
    workload.lab().cluster().await(held, OperationPhase.HELD);
    workload.lab().stop();
    String thaw = workload.order(orders.of(OperationType.THAW, workload.source(), held));
    DaemonChild.dies(workload.lab(), "BEFORE_WRITE", "Succeeded");
    assertThat(workload.lab().cluster().status(held).getPhase()).isEqualTo(OperationPhase.HELD);

    workload.lab().start();

    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(held);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getArtifact()).isNotNull();
    assertThat(workload.lab().cluster().awaitEnd(thaw).getOutcome()).isEqualTo(Outcome.DONE);
    workload.deleteArtifact(orders);
  }

  @Test
  void anOrderedEndIsNoLoss() throws Exception {
    try (AgentLab.Placed evicted = workload.pod("evicted")) {
      workload.lab().start();
      String held = checkpoint(evicted, Afterwards.HOLD);
      workload.lab().cluster().await(held, OperationPhase.HELD);
      workload.lab().stop();
      workload.lab().cluster().delete(evicted.pod());
      String end = workload.order(orders.of(OperationType.END, evicted, held));
      DaemonChild.dies(workload.lab(), "BEFORE_WRITE", "Succeeded");
      assertThat(workload.lab().cluster().status(held).getPhase()).isEqualTo(OperationPhase.HELD);

      workload.lab().start();

      GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(held);
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(status.getWorkload()).isEqualTo(WorkloadState.ENDED);
      assertThat(status.getArtifact()).isNotNull();
      assertThat(workload.lab().cluster().awaitEnd(end).getOutcome()).isEqualTo(Outcome.DONE);
      workload.deleteArtifact(orders);
    }
  }

  @Test
  void aHeldWorkloadStaysHeldIfItsArtifactCannotBeReadNow() throws Exception {
    try (AgentLab.Placed evicted = workload.pod("evicted")) {
      workload.lab().start();
      String held = checkpoint(evicted, Afterwards.HOLD);
      workload.lab().cluster().await(held, OperationPhase.HELD);
      workload.lab().stop();
      workload.lab().cluster().delete(evicted.pod());
      workload.lab().cluster().storeIsAway.set(true);

      workload.lab().start();

      String end = workload.order(orders.of(OperationType.END, evicted, held));
      assertThat(workload.lab().cluster().awaitEnd(end).getOutcome()).isEqualTo(Outcome.DONE);
      GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(held);
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(status.getWorkload()).isEqualTo(WorkloadState.ENDED);
      workload.deleteArtifact(orders);
    }
  }

  /** Without an order to end it, it is not known that its end was meant. */
  @Test
  void aHeldWorkloadThatEndedItselfIsNotReportedAsDone() throws Exception {
    try (AgentLab.Placed killed = workload.pod("killed")) {
      workload.lab().start();
      String held = checkpoint(killed, Afterwards.HOLD);
      workload.lab().cluster().await(held, OperationPhase.HELD);
      workload.lab().stop();
      killed.container().end();
      workload.lab().engine().engine().thaw().run(killed.container().id(), StepListener.NONE);

      workload.lab().start();

      assertThat(workload.lab().cluster().awaitEnd(held).getOutcome()).isEqualTo(Outcome.LOST);
      workload.deleteArtifact(orders);
    }
  }

  /** An earlier version has not written the operation into the journal. */
  @Tag("long")
  @Test
  void anUpgradeKeepsWhatWasReportedAsSuspended() throws Exception {
    anUpgradeKeepsWhatIsHeldOrSuspended(Afterwards.SUSPEND, "AFTER_WRITE", "Succeeded");
  }

  @ParameterizedTest
  @CsvSource({"HOLD, AFTER_WRITE, Held", "SUSPEND, BEFORE_WRITE, Succeeded"})
  void anUpgradeKeepsWhatIsHeldOrSuspended(Afterwards afterwards, String moment, String phase)
      throws Exception {
    String name = checkpoint(workload.source(), afterwards);
    DaemonChild.dies(workload.lab(), moment, phase);
    workload.lab().forgetOperations();

    workload.lab().start();
    GpuNodeOperationStatus status =
        afterwards == Afterwards.HOLD
            ? workload.lab().cluster().await(name, OperationPhase.HELD)
            : workload.lab().cluster().awaitEnd(name);
    assertThat(status.getArtifact()).isNotNull();
    assertThat(workload.inHand())
        .extracting(Work::phase)
        .containsExactly(afterwards == Afterwards.HOLD ? Work.Phase.HELD : Work.Phase.SUSPENDED);

    OperationType next = afterwards == Afterwards.HOLD ? OperationType.THAW : OperationType.RESUME;
    assertThat(
            workload
                .lab()
                .cluster()
                .awaitEnd(workload.order(orders.of(next, workload.source(), name)))
                .getWorkload())
        .isEqualTo(WorkloadState.RUNNING);
    workload.lab().cluster().awaitEnd(name);
    workload.deleteArtifact(orders);
  }

  @Test
  void anUpgradeUndoesWhatItsPredecessorHadBegun() throws Exception {
    String name = checkpoint(workload.source(), Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), "AFTER", "gpu-checkpoint");
    workload.lab().forgetOperations();

    workload.lab().start();

    assertThat(workload.lab().cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.UNDONE);
  }
}
