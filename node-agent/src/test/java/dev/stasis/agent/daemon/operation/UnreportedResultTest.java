package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An agent ends before the API server has stored what it did. Its successor has the journals of
 * frozen workloads, and sees the rest: it repeats nothing and calls nothing lost.
 */
class UnreportedResultTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed source;

  private final Orders orders = Orders.ofSomebody();

  @BeforeAll
  static void begin() {
    lab = new AgentLab(1, 128);
    source = pod("trainer");
  }

  private static AgentLab.Placed pod(String name) {
    AgentLab.Placed placed =
        lab.pod(
            name,
            ContainerSpec.counter(
                lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "20", "--fork", "1"),
            Map.of());
    placed.container().awaitSteps(3);
    return placed;
  }

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    lab.close();
  }

  @AfterEach
  void theWorkloadRunsAndNothingIsLeft() throws InterruptedException {
    lab.stop();
    lab.engine().assertNothingLeft();
    source.container().awaitSteps(3);
    source.container().verify(MIB);
  }

  private static String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private String checkpoint(AgentLab.Placed pod, Afterwards afterwards) {
    return order(orders.checkpoint(pod, how -> how.setAfterwards(afterwards)));
  }

  /** The API server has not stored more than this. */
  private static void stored(String name, OperationPhase phase) {
    GpuNodeOperationStatus status =
        lab.cluster().history(name).stream()
            .filter(said -> said.getPhase() == phase)
            .reduce((first, last) -> last)
            .orElseThrow();
    lab.cluster().edit(name, operation -> operation.setStatus(status));
  }

  private static List<WorkloadState> states(String name) {
    return lab.cluster().history(name).stream()
        .map(GpuNodeOperationStatus::getWorkload)
        .filter(Objects::nonNull)
        .toList();
  }

  @Test
  void aCheckpointThatIsDoneIsNotMadeAgain() throws Exception {
    lab.start();
    String name = checkpoint(source, Afterwards.RESUME);
    GpuNodeOperationStatus done = lab.cluster().awaitEnd(name);
    lab.stop();
    stored(name, OperationPhase.CLAIMED);
    int before = states(name).size();

    lab.start();
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);

    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(Objects.requireNonNull(status.getArtifact()).getSha256())
        .isEqualTo(Objects.requireNonNull(done.getArtifact()).getSha256());
    List<WorkloadState> states = states(name);
    assertThat(states.subList(before, states.size())).containsOnly(WorkloadState.RUNNING);
    deleted();
  }

  private void deleted() {
    assertThat(lab.cluster().awaitEnd(order(orders.delete())).getOutcome()).isEqualTo(Outcome.DONE);
  }

  @Test
  void aCancelledOperationIsNotStarted() throws Exception {
    String name = checkpoint(source, Afterwards.RESUME);
    DaemonChild.dies(lab, "AFTER_WRITE", "Claimed");
    lab.cluster().edit(name, operation -> operation.getSpec().setCancel(true));

    lab.start();

    assertThat(lab.cluster().awaitEnd(name).getPhase()).isEqualTo(OperationPhase.CANCELLED);
    assertThat(states(name)).doesNotContain(WorkloadState.FROZEN);
  }

  @Test
  void aFreezeIsUndoneWithoutAnAnswerOfTheApiServer() throws Exception {
    String name = checkpoint(source, Afterwards.RESUME);
    DaemonChild.dies(lab, "AFTER", "gpu-checkpoint");
    lab.cluster().goAway();

    lab.start();
    Awaitility.await("the thaw")
        .atMost(FileCluster.LIMIT)
        .until(() -> lab.engine().engine().thaw().inHand().isEmpty());
    source.container().awaitSteps(3);

    lab.cluster().comeBack();
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
    assertThat(status.getReason()).isEqualTo("AgentRestarted");
    assertThat(status.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getClaimedBy()).isNotNull();
  }

  @Test
  void anOrderedThawIsNoFailure() throws Exception {
    lab.start();
    String held = checkpoint(source, Afterwards.HOLD);
    lab.cluster().await(held, OperationPhase.HELD);
    lab.stop();
    String thaw = order(orders.of(OperationType.THAW, source, held));
    DaemonChild.dies(lab, "BEFORE_WRITE", "Succeeded");
    assertThat(lab.cluster().status(held).getPhase()).isEqualTo(OperationPhase.HELD);

    lab.start();

    GpuNodeOperationStatus status = lab.cluster().awaitEnd(held);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getArtifact()).isNotNull();
    assertThat(lab.cluster().awaitEnd(thaw).getOutcome()).isEqualTo(Outcome.DONE);
    deleted();
  }

  @Test
  void anOrderedEndIsNoLoss() throws Exception {
    try (AgentLab.Placed evicted = pod("evicted")) {
      lab.start();
      String held = checkpoint(evicted, Afterwards.HOLD);
      lab.cluster().await(held, OperationPhase.HELD);
      lab.stop();
      lab.cluster().delete(evicted.pod());
      String end = order(orders.of(OperationType.END, evicted, held));
      DaemonChild.dies(lab, "BEFORE_WRITE", "Succeeded");
      assertThat(lab.cluster().status(held).getPhase()).isEqualTo(OperationPhase.HELD);

      lab.start();

      GpuNodeOperationStatus status = lab.cluster().awaitEnd(held);
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(status.getWorkload()).isEqualTo(WorkloadState.ENDED);
      assertThat(status.getArtifact()).isNotNull();
      assertThat(lab.cluster().awaitEnd(end).getOutcome()).isEqualTo(Outcome.DONE);
      deleted();
    }
  }

  /** Without an order to end it, it is not known that its end was meant. */
  @Test
  void aHeldWorkloadThatEndedItselfIsNotReportedAsDone() throws Exception {
    try (AgentLab.Placed killed = pod("killed")) {
      lab.start();
      String held = checkpoint(killed, Afterwards.HOLD);
      lab.cluster().await(held, OperationPhase.HELD);
      lab.stop();
      killed.container().end();
      lab.engine().engine().thaw().run(killed.container().id(), StepListener.NONE);

      lab.start();

      assertThat(lab.cluster().awaitEnd(held).getOutcome()).isEqualTo(Outcome.LOST);
      deleted();
    }
  }

  /** An earlier version kept the operation in a second record. */
  @ParameterizedTest
  @CsvSource({
    "HOLD, AFTER_WRITE, Held",
    "SUSPEND, AFTER_WRITE, Succeeded",
    "SUSPEND, BEFORE_WRITE, Succeeded"
  })
  void anUpgradeKeepsWhatIsHeldOrSuspended(Afterwards afterwards, String moment, String phase)
      throws Exception {
    String name = checkpoint(source, afterwards);
    DaemonChild.dies(lab, moment, phase);
    lab.forgetOperations();
    Path former = formerRecord(name);

    lab.start();
    GpuNodeOperationStatus status =
        afterwards == Afterwards.HOLD
            ? lab.cluster().await(name, OperationPhase.HELD)
            : lab.cluster().awaitEnd(name);
    assertThat(status.getArtifact()).isNotNull();
    assertThat(lab.engine().engine().thaw().inHand())
        .extracting(Work::phase)
        .containsExactly(afterwards == Afterwards.HOLD ? Work.Phase.HELD : Work.Phase.SUSPENDED);
    assertThat(former.getParent()).doesNotExist();

    OperationType next = afterwards == Afterwards.HOLD ? OperationType.THAW : OperationType.RESUME;
    assertThat(lab.cluster().awaitEnd(order(orders.of(next, source, name))).getWorkload())
        .isEqualTo(WorkloadState.RUNNING);
    lab.cluster().awaitEnd(name);
    deleted();
  }

  @Test
  void anUpgradeUndoesWhatItsPredecessorHadBegun() throws Exception {
    String name = checkpoint(source, Afterwards.RESUME);
    DaemonChild.dies(lab, "AFTER", "gpu-checkpoint");
    lab.forgetOperations();
    formerRecord(name);

    lab.start();

    assertThat(lab.cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.UNDONE);
  }

  /** As an earlier version wrote it. */
  private static Path formerRecord(String name) throws IOException {
    Path folder = Files.createDirectories(lab.engine().state().resolve("operations"));
    return Files.writeString(
        folder.resolve(name + ".json"),
        """
        {"format": 1, "bootId": "b", "name": "%s", "uid": "u", "created": "2026-11-21T10:00:00Z",
         "claimed": "2026-11-21T10:00:01Z", "spec": {"type": "Checkpoint"}, "stage": "BEGUN"}
        """
            .formatted(name));
  }
}
