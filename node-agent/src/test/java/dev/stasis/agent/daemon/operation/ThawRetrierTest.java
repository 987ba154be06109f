package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.After;
import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.CheckpointRequest;
import dev.stasis.agent.engine.OperationControl;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What an operation leaves frozen is woken by the agent that runs, and nothing else is: not what is
 * suspended, not what waits for a decision, not what a person froze.
 */
class ThawRetrierTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  private final Orders orders = Orders.ofSomebody();
  private final MeterRegistry metrics = lab.freshMetrics();

  @BeforeAll
  static void begin() {
    lab = new AgentLab(1, 128);
  }

  @AfterEach
  void nothingIsLeft() throws InterruptedException {
    lab.stop();
    mend();
    lab.engine().assertNothingLeft();
    lab.endFencing(); // A workload that ended while it was frozen leaves its GPU fenced.
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  private static AgentLab.Placed pod(String name) {
    AgentLab.Placed pod =
        lab.pod(
            name,
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100"),
            Map.of());
    pod.container().awaitSteps(3);
    return pod;
  }

  private static String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private String afterHook() {
    return "runs-again-" + orders.requester();
  }

  /** Its driver refuses the last call of the thaw until it is mended. */
  private String leftFrozen(AgentLab.Placed source) {
    return leftFrozen(source, Afterwards.RESUME);
  }

  private String leftFrozen(AgentLab.Placed source, Afterwards afterwards) {
    lab.engine().gpus().fault("unlock", "error 999 always");
    Hooks hooks =
        new Hooks(null, List.of(new Hook(new ExecAction(List.of(afterHook())), null, null, null)));
    String name =
        order(
            orders.checkpoint(
                source,
                how -> {
                  how.setHooks(hooks);
                  how.setAfterwards(afterwards);
                }));
    if (afterwards == Afterwards.HOLD) {
      lab.cluster().await(name, OperationPhase.HELD);
      lab.cluster().edit(name, operation -> operation.getSpec().setCancel(true));
    }
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
    assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.NOT_UNDONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.FROZEN);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.FALSE);
    assertThat(status.getWorkloadTime()).isNull();
    return name;
  }

  private static void mend() {
    lab.engine().gpus().mend("unlock");
  }

  private static void isWoken(String name, AgentLab.Placed source) throws InterruptedException {
    GpuNodeOperationStatus status =
        lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.RUNNING);
    assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.NOT_UNDONE);
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
    assertThat(status.getSourceProcesses()).isEqualTo(1);
    assertThat(status.getWorkloadTime()).isNotNull();
    assertThat(status.getFaults()).isNotEmpty();
    source.container().awaitSteps(3);
    source.container().verify(MIB);
    assertThat(inHand()).isEmpty();
  }

  private double tries(String outcome) {
    return Optional.ofNullable(metrics.find("stasis.thaw.tries").tag("outcome", outcome).counter())
        .map(Counter::count)
        .orElse(0.0);
  }

  private void awaitTries(String outcome, int count) {
    Awaitility.await(count + " tries that end " + outcome)
        .atMost(FileCluster.LIMIT)
        .until(() -> tries(outcome) >= count);
  }

  private static List<Work> inHand() {
    return lab.engine().engine().thaw().inHand();
  }

  @Test
  void aThawIsRetriedUntilTheWorkloadRunsAndReported() throws Exception {
    try (AgentLab.Placed source = pod("trainer")) {
      lab.start();
      String name = leftFrozen(source);
      awaitTries("Frozen", 2);
      assertThat(metrics.get("stasis.left.frozen.pods").gauge().value()).isEqualTo(1);
      assertThat(lab.cluster().status(name).getWorkload()).isEqualTo(WorkloadState.FROZEN);
      mend();
      isWoken(name, source);
      lab.engine().assertNothingLeft();
      assertThat(lab.node().ran()).containsOnlyOnce(afterHook());
      Awaitility.await("nothing left to try")
          .atMost(FileCluster.LIMIT)
          .until(() -> metrics.get("stasis.left.frozen.pods").gauge().value() == 0);
      // Its GPU is as good as any other again.
      String next = order(Orders.ofSomebody().checkpoint(source, how -> {}));
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(next);
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    }
  }

  @Test
  void aSuccessorThawsWorkloadsThatItsPredecessorLeftFrozen() throws Exception {
    try (AgentLab.Placed source = pod("trainer")) {
      lab.start();
      String name = leftFrozen(source);
      lab.stop();
      assertThat(described(inHand().get(0)).getOutcome()).isEqualTo(Outcome.NOT_UNDONE);
      mend();
      lab.start();
      isWoken(name, source);
    }
  }

  /** The state folder was full: the end is in the API server, where it is immutable. */
  @ParameterizedTest
  @EnumSource(names = {"RESUME", "HOLD"})
  void aSuccessorWhoseJournalMissesTheEndReportsTheThawOnce(Afterwards afterwards)
      throws Exception {
    try (AgentLab.Placed source = pod("trainer")) {
      lab.start();
      String name = leftFrozen(source, afterwards);
      lab.stop();
      GpuNodeOperationStatus end = lab.cluster().status(name);
      String phase = afterwards == Afterwards.HOLD ? "Held" : "Undoing";
      lab.editJournals(
          journal -> journal.withObject("/operation/status").put("phase", phase).remove("outcome"));
      int before = lab.cluster().history(name).size();
      mend();
      lab.start();
      isWoken(name, source);
      assertThat(lab.cluster().status(name).getMessage()).startsWith(end.getMessage());
      assertThat(lab.cluster().status(name).getTimings())
          .usingRecursiveComparison()
          .isEqualTo(end.getTimings());
      assertThat(lab.cluster().status(name).getArtifact() != null)
          .as("whether it is kept; that of a hold that is undone is deleted")
          .isEqualTo(afterwards == Afterwards.RESUME);
      lab.stop();
      assertThat(lab.cluster().history(name)).hasSize(before + 1);
      assertThat(lab.fenced()).isEmpty();
    }
  }

  /** An agent of before kept no journal of it. */
  @Test
  void aWorkloadKnownOnlyToTheApiServerIsThawedToo() throws Exception {
    try (AgentLab.Placed source = pod("trainer")) {
      lab.start();
      String name = leftFrozen(source);
      lab.stop();
      lab.forgetOperations();
      mend();
      lab.start();
      isWoken(name, source);
    }
  }

  @Test
  void aWorkloadIsThawedEvenIfItsOperationIsGone() throws Exception {
    try (AgentLab.Placed source = pod("trainer")) {
      lab.start();
      lab.cluster().remove(leftFrozen(source));
      mend();
      source.container().awaitSteps(3);
      Awaitility.await("the journal of what nobody asks for")
          .atMost(FileCluster.LIMIT)
          .until(() -> inHand().isEmpty());
    }
  }

  @Test
  void aWorkloadInAPodThatIsBeingDeletedIsNotThawed() throws Exception {
    try (AgentLab.Placed source = pod("trainer")) {
      lab.start();
      String name = leftFrozen(source);
      lab.cluster().delete(source.pod());
      // A try that began before would thaw it.
      awaitTries("PodDeleted", 1);
      mend();
      awaitTries("PodDeleted", 2);
      assertThat(inHand()).hasSize(1);
      assertThat(lab.cluster().status(name).getWorkload()).isEqualTo(WorkloadState.FROZEN);

      source.container().end();
      GpuNodeOperationStatus status =
          lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.ENDED);
      assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.FALSE);
      lab.engine().assertNothingLeft();
    }
  }

  @Test
  void suspendedHeldAndManuallyFrozenWorkloadsAreNotThawed() throws Exception {
    try (AgentLab.Placed suspended = pod("suspended");
        AgentLab.Placed held = pod("held");
        AgentLab.Placed byHand = pod("by-hand");
        AgentLab.Placed source = pod("trainer")) {
      lab.start();
      String suspension = order(orders.suspend(suspended));
      assertThat(lab.cluster().awaitEnd(suspension).getWorkload())
          .isEqualTo(WorkloadState.SUSPENDED);
      Orders migration = Orders.ofSomebody();
      String fence =
          order(
              migration.checkpoint(
                  held,
                  how -> {
                    how.setAfterwards(Afterwards.HOLD);
                    how.setHeldUntilDecided(true);
                  }));
      lab.cluster().await(fence, OperationPhase.HELD);
      suspendByHand(byHand);

      String name = leftFrozen(source);
      awaitTries("Frozen", 1);
      mend();
      isWokenBeside(name, source);
      assertThat(inHand())
          .extracting(work -> work.containerId() + " " + work.phase())
          .containsExactlyInAnyOrder(
              suspended.container().id() + " SUSPENDED",
              held.container().id() + " HELD",
              byHand.container().id() + " SUSPENDED");
      assertThat(lab.cluster().status(fence).getPhase()).isEqualTo(OperationPhase.HELD);

      for (String id : Stream.of(suspended, byHand, held).map(it -> it.container().id()).toList()) {
        lab.engine().engine().thaw().run(id, StepListener.NONE);
      }
    }
  }

  private static void isWokenBeside(String name, AgentLab.Placed source) {
    lab.cluster().await(name, said -> said.getWorkload() == WorkloadState.RUNNING);
    source.container().awaitSteps(3);
  }

  private static void suspendByHand(AgentLab.Placed pod) throws InterruptedException {
    CheckpointRequest request =
        new CheckpointRequest(
            "by-hand-1",
            "by-hand",
            "somebody",
            null,
            pod.container().id(),
            null,
            After.SUSPEND,
            CheckpointRequest.Options.defaults(),
            null,
            Set.of());
    OperationControl control =
        OperationControl.until(Clock.systemUTC(), Instant.now().plus(Duration.ofMinutes(5)), null);
    assertThat(lab.engine().engine().checkpoint().run(request, control, StepListener.NONE))
        .isInstanceOf(CheckpointOutcome.Suspended.class);
  }

  private static GpuNodeOperationStatus described(Work work) throws IOException {
    return new OperationJson().operation(Objects.requireNonNull(work.operation())).getStatus();
  }
}
