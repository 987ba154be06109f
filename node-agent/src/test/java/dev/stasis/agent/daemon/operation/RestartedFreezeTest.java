package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.MortalEngine;
import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.OperationControl;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An agent is killed in the middle of a freeze, everywhere. Its successor goes on with what was not
 * begun, undoes what was, ends what was done, and leaves alone what waits.
 */
class RestartedFreezeTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab("--fork", "1");

  private final Orders orders = Orders.ofSomebody();

  private String checkpoint(Afterwards afterwards) {
    return workload.order(
        orders.checkpoint(workload.source(), how -> how.setAfterwards(afterwards)));
  }

  private static void resumed(GpuNodeOperationStatus status) {
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
  }

  /** After a step is before the next one. The engine alone is tested at each of them. */
  static Stream<Arguments> everyStep() {
    return Stream.of("AFTER", "BEFORE_UNDO")
        .flatMap(
            moment -> MortalEngine.freezing().stream().map(step -> Arguments.of(moment, step)));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyStep")
  void aCheckpointAtAnyStepIsUndone(String moment, String step) throws Exception {
    aCheckpointInTheMiddleIsUndone(moment, step);
  }

  /** On both ways, and with the device memory in the process and in the stage. */
  @ParameterizedTest
  @CsvSource({"AFTER, gpu-checkpoint", "BEFORE_UNDO, move"})
  void aCheckpointInTheMiddleIsUndone(String moment, String step) throws Exception {
    String name = checkpoint(Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), moment, step);
    workload.lab().start();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(status.getReason()).isEqualTo("AgentRestarted");
    assertThat(status.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
    assertThat(status.getSourceProcesses()).isEqualTo(2);
    assertThat(workload.lab().engine().store().resolve("ml")).isEmptyDirectory();
  }

  @Tag("long")
  @Test
  void anOperationWhoseClaimWasNotStoredIsStarted() throws Exception {
    anOperationThatWasNotStartedIsStarted("BEFORE_WRITE");
  }

  @Test
  void anOperationThatWasNotStartedIsStarted() throws Exception {
    anOperationThatWasNotStartedIsStarted("AFTER_WRITE");
  }

  private void anOperationThatWasNotStartedIsStarted(String moment) throws Exception {
    String name = checkpoint(Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), moment, "Claimed");
    workload.lab().start();
    resumed(workload.lab().cluster().awaitEnd(name));
    workload.lab().cluster().remove(name);
    workload.deleteArtifact(orders);
  }

  @Tag("long")
  @Test
  void aFinishedAndReportedOperationIsLeftAlone() throws Exception {
    aFinishedOperationIsOnlyReported("AFTER_WRITE");
  }

  @Test
  void aFinishedOperationIsOnlyReported() throws Exception {
    aFinishedOperationIsOnlyReported("BEFORE_WRITE");
  }

  private void aFinishedOperationIsOnlyReported(String moment) throws Exception {
    String name = checkpoint(Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), moment, "Succeeded");
    workload.lab().start();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    resumed(status);
    assertThat(status.getArtifact()).isNotNull();
    workload.deleteArtifact(orders);
  }

  @Tag("long")
  @Test
  void aWorkloadReportedAsHeldStaysHeld() throws Exception {
    aHeldWorkloadStaysHeld("AFTER_WRITE");
  }

  @Test
  void aHeldWorkloadStaysHeld() throws Exception {
    aHeldWorkloadStaysHeld("BEFORE_WRITE");
  }

  private void aHeldWorkloadStaysHeld(String moment) throws Exception {
    String name = checkpoint(Afterwards.HOLD);
    DaemonChild.dies(workload.lab(), moment, "Held");
    workload.lab().start();
    GpuNodeOperationStatus held = workload.lab().cluster().await(name, OperationPhase.HELD);
    assertThat(held.getWorkload()).isEqualTo(WorkloadState.FROZEN);
    workload.lab().stop();
    workload.lab().start();
    assertThat(workload.inHand()).extracting(Work::phase).containsExactly(Work.Phase.HELD);
    resumed(
        workload
            .lab()
            .cluster()
            .awaitEnd(workload.order(orders.of(OperationType.THAW, workload.source(), name))));
    assertThat(workload.lab().cluster().awaitEnd(name).getArtifact()).isNotNull();
    workload.deleteArtifact(orders);
  }

  /** It was digested in this boot, and the workload is frozen for as long as a reading takes. */
  @Test
  void theArtifactOfWhatIsHeldIsNotReadAgain() throws Exception {
    String name = checkpoint(Afterwards.HOLD);
    DaemonChild.dies(workload.lab(), "AFTER_WRITE", "Held");
    Path image;
    try (Stream<Path> files = Files.walk(workload.lab().engine().store())) {
      image = files.filter(file -> file.endsWith("criu/inventory.img")).findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(image);
    bytes[0] ^= 1;
    Files.write(image, bytes);
    workload.lab().start();
    // It settles what is held before it takes an order.
    resumed(
        workload
            .lab()
            .cluster()
            .awaitEnd(workload.order(orders.of(OperationType.THAW, workload.source(), name))));
    assertThat(workload.lab().cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.DONE);
    workload.deleteArtifact(orders);
  }

  @Test
  void aSuccessorReportsTheStartOfTheFreeze() throws Exception {
    String name = checkpoint(Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), "AFTER", "dump");
    Instant frozen = frozen(name);
    workload.lab().start();
    assertThat(workload.lab().cluster().awaitEnd(name).getFrozenTime()).isEqualTo(frozen);
  }

  /** Since when it stands still, as the first one said it. */
  private static Instant frozen(String name) {
    return workload.lab().cluster().history(name).stream()
        .map(GpuNodeOperationStatus::getFrozenTime)
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow();
  }

  @Tag("long")
  @Test
  void aWorkloadReportedAsSuspendedStaysSuspended() throws Exception {
    aSuspendedWorkloadStaysSuspended("AFTER_WRITE");
  }

  @Test
  void aSuspendedWorkloadStaysSuspended() throws Exception {
    aSuspendedWorkloadStaysSuspended("BEFORE_WRITE");
  }

  private void aSuspendedWorkloadStaysSuspended(String moment) throws Exception {
    String name = workload.order(orders.suspend(workload.source()));
    DaemonChild.dies(workload.lab(), moment, "Succeeded");
    workload.lab().start();
    assertThat(workload.lab().cluster().awaitEnd(name).getWorkload())
        .isEqualTo(WorkloadState.SUSPENDED);
    workload.lab().stop();
    workload.lab().start();
    assertThat(workload.inHand()).extracting(Work::phase).containsExactly(Work.Phase.SUSPENDED);
    resumed(
        workload
            .lab()
            .cluster()
            .awaitEnd(workload.order(orders.of(OperationType.RESUME, workload.source(), name))));
  }

  /** They tell the workload that it goes on, so they may come twice, but never not at all. */
  @Test
  void theHooksAfterAFreezeRunAlsoWhenASuccessorUndoesIt() throws Exception {
    String name =
        workload.order(orders.checkpoint(workload.source(), how -> how.setHooks(after("undone"))));
    DaemonChild.dies(workload.lab(), "AFTER", "gpu-checkpoint");
    workload.lab().start();
    assertThat(workload.lab().cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(workload.lab().node().ran()).containsOnlyOnce("undone");
  }

  @Test
  void theHooksAfterASuspensionRunOnceItIsResumed() throws Exception {
    GpuNodeOperation suspend = orders.suspend(workload.source());
    Objects.requireNonNull(suspend.getSpec().getFreeze()).setHooks(after("resumed"));
    String name = workload.order(suspend);
    workload.lab().start();
    workload.lab().cluster().awaitEnd(name);
    assertThat(workload.lab().node().ran()).doesNotContain("resumed");
    resumed(
        workload
            .lab()
            .cluster()
            .awaitEnd(workload.order(orders.of(OperationType.RESUME, workload.source(), name))));
    assertThat(workload.lab().node().ran()).containsOnlyOnce("resumed");
  }

  private static Hooks after(String command) {
    return new Hooks(null, List.of(new Hook(new ExecAction(List.of(command)), null, null, null)));
  }

  /** A workload that stands still is worth more than one try, before anybody is told. */
  @Test
  void aThawThatFailsOnceIsTriedAgainAtOnce() throws Exception {
    String name = checkpoint(Afterwards.RESUME);
    DaemonChild.dies(workload.lab(), "AFTER", "gpu-checkpoint");
    workload.lab().engine().gpus().fault("unlock", "error 999");
    workload.lab().start();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.UNDONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
  }

  @Test
  void aFrozenWorkloadWithoutAnOperationIsThawed() throws Exception {
    String name = workload.order(orders.suspend(workload.source()));
    DaemonChild.dies(workload.lab(), "AFTER_WRITE", "Succeeded");
    workload.lab().cluster().remove(name);
    workload.lab().start();
    org.awaitility.Awaitility.await("the thaw of what nobody knows")
        .atMost(FileCluster.LIMIT)
        .until(() -> workload.inHand().isEmpty());
  }

  /** Whoever did that with stasis-node knows why; perhaps another workload has its GPU by now. */
  @Test
  void aManuallySuspendedWorkloadIsNotThawed() throws Exception {
    String byHand = Work.BY_HAND + "1";
    String container = workload.source().container().id();
    CheckpointRequest suspend =
        new CheckpointRequest(
            byHand,
            "by-hand",
            "somebody",
            null,
            container,
            null,
            After.SUSPEND,
            CheckpointRequest.Options.defaults(),
            null,
            Set.of());
    NodeEngine engine = workload.lab().engine().engine();
    OperationControl control = OperationControl.within(Clock.systemUTC(), FileCluster.LIMIT);
    assertThat(engine.checkpoint().run(suspend, control, StepListener.NONE))
        .isInstanceOf(CheckpointOutcome.Suspended.class);
    // It reads the frozen work before it takes an order.
    workload.lab().start();
    workload.lab().cluster().awaitEnd(workload.order(orders.delete()));
    assertThat(engine.thaw().inHand())
        .extracting(Work::id, Work::phase)
        .containsExactly(tuple(byHand, Work.Phase.SUSPENDED));
    assertThat(engine.thaw().run(container, StepListener.NONE))
        .isInstanceOf(ThawOutcome.Ended.class);
  }

  @Test
  void anOperationThatWasDeletedMeanwhileIsUndone() throws Exception {
    String name = checkpoint(Afterwards.HOLD);
    DaemonChild.dies(workload.lab(), "AFTER_WRITE", "Held");
    workload.lab().cluster().remove(name);
    workload.lab().start();
    org.awaitility.Awaitility.await("the thaw of what nobody wants")
        .atMost(FileCluster.LIMIT)
        .until(() -> workload.inHand().isEmpty());
  }

  @Test
  void aClaimOfAnotherBootIsLost() throws Exception {
    String name = checkpoint(Afterwards.RESUME);
    workload
        .lab()
        .cluster()
        .edit(
            name,
            operation -> {
              GpuNodeOperationStatus status = new GpuNodeOperationStatus();
              status.setPhase(OperationPhase.RUNNING);
              status.setClaimedBy(new Claim("agent-before", "another-boot", Instant.now()));
              operation.setStatus(status);
            });
    workload.lab().start();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(name);
    assertThat(status.getOutcome()).isEqualTo(Outcome.LOST);
    assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
  }
}
