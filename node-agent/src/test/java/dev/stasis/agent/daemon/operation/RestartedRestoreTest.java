package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.engine.MortalEngine;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.IdleChild;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An agent is killed in the middle of a restore, everywhere. Either the workload was proven and is
 * kept, or nothing of it runs.
 */
class RestartedRestoreTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  private static final Orders ORDERS = Orders.ofSomebody();

  @SuppressWarnings("NullAway.Init")
  private static GpuNodeOperationStatus saved;

  @SuppressWarnings("NullAway.Init")
  private static List<String> before;

  @BeforeAll
  static void begin() throws Exception {
    lab = new AgentLab(1, 128);
    try (AgentLab.Placed source = lab.pod("trainer", counter(), Map.of())) {
      source.container().awaitSteps(3);
      lab.start();
      String held =
          lab.cluster()
              .create(ORDERS.checkpoint(source, how -> how.setAfterwards(Afterwards.HOLD)))
              .getMetadata()
              .getName();
      saved = lab.cluster().await(held, OperationPhase.HELD);
      lab.cluster().delete(source.pod());
      lab.cluster()
          .awaitEnd(
              lab.cluster()
                  .create(ORDERS.of(OperationType.END, source, held))
                  .getMetadata()
                  .getName());
      lab.stop();
      before = source.container().lines();
    }
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  @AfterEach
  void stop() throws InterruptedException {
    lab.stop();
    lab.engine().assertNothingLeft();
  }

  private static ContainerSpec counter() {
    return ContainerSpec.counter(
        lab.engine().gpus(),
        "--mib",
        "" + MIB,
        "--interval-ms",
        "100",
        "--fork",
        "1",
        IdleChild.OPTION);
  }

  private static String order(AgentLab.Placed target) {
    return lab.cluster()
        .create(
            ORDERS.restore(
                target,
                Objects.requireNonNull(Objects.requireNonNull(saved.getHardware()).fingerprint()),
                Objects.requireNonNull(Objects.requireNonNull(saved.getArtifact()).getSha256())))
        .getMetadata()
        .getName();
  }

  private static GpuNodeOperationStatus restored(AgentLab.Placed target, String moment, String step)
      throws Exception {
    String name = order(target);
    DaemonChild.dies(lab, moment, step);
    lab.start();
    return lab.cluster().awaitEnd(name);
  }

  /** The engine alone is tested at each of them. */
  static Stream<String> everyOtherStepBeforeTheProof() {
    return MortalEngine.restoring().stream()
        .filter(step -> !List.of("unlock", "prove").contains(step));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyOtherStepBeforeTheProof")
  void anUnverifiedRestoreAtAnyOtherStepIsEnded(String step) throws Exception {
    anUnverifiedRestoreIsEnded(step);
  }

  @ParameterizedTest
  @ValueSource(strings = "unlock")
  void anUnverifiedRestoreIsEnded(String step) throws Exception {
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), ORDERS.labels())) {
      GpuNodeOperationStatus status = restored(target, "AFTER", step);
      assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
      assertThat(status.getReason()).isEqualTo("AgentRestarted");
      assertThat(status.getOutcome()).isEqualTo(Outcome.UNDONE);
      assertThat(status.getProof()).isNull();
      assertThat(lab.engine().engine().look().at(target.container().id()).processes())
          .as("processes in the target")
          .isLessThanOrEqualTo(1);
    }
  }

  @Tag("long")
  @Test
  void aVerifiedRestoreThatWasNotReportedIsKept() throws Exception {
    aVerifiedRestoreIsKept("BEFORE_WRITE", "Succeeded");
  }

  @Test
  void aVerifiedRestoreIsKept() throws Exception {
    aVerifiedRestoreIsKept("AFTER", "prove");
  }

  private static void aVerifiedRestoreIsKept(String moment, String step) throws Exception {
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), ORDERS.labels())) {
      proven(target, restored(target, moment, step));
    }
  }

  /** A second restore in its container could only fail, and its operator would delete the pod. */
  @Test
  void aRestoreVerifiedWhileTheApiServerWasUnavailableIsKept() throws Exception {
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), ORDERS.labels())) {
      String name = verifiedAndNotReported(target);
      new IdleChild(root(target)).stop();
      lab.start();
      proven(target, lab.cluster().awaitEnd(name));
    }
  }

  /** Its source would be thawed: a report that nothing runs in the target allows that. */
  @Test
  void aVerifiedRestoreThatCannotBeSeenToRunIsNotReportedAsRefused() throws Exception {
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), ORDERS.labels())) {
      String name = verifiedAndNotReported(target);
      lab.engine().gpus().fault("state", "error 999 always");
      lab.start();
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
      lab.engine().gpus().mend("state");
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.NOT_UNDONE);
      assertThat(status.getReason()).isEqualTo("AgentRestarted");
      assertThat(status.getWorkload()).isEqualTo(WorkloadState.UNKNOWN);
      target.container().awaitSteps(3);
      target.container().verify(MIB, before);
    }
  }

  @Test
  void aRefusedRestoreReportsWhatRunsInItsTarget() throws Exception {
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), ORDERS.labels())) {
      lab.start();
      lab.cluster().awaitEnd(order(target));
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(order(target));
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.REFUSED);
      assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    }
  }

  /** Restores, and leaves the operation as the API server has it that stored only the claim. */
  private static String verifiedAndNotReported(AgentLab.Placed target) throws Exception {
    String name = order(target);
    lab.start();
    lab.cluster().awaitEnd(name);
    lab.stop();
    GpuNodeOperationStatus claimed = lab.cluster().history(name).get(0);
    assertThat(claimed.getPhase()).isEqualTo(OperationPhase.CLAIMED);
    lab.cluster().edit(name, operation -> operation.setStatus(claimed));
    return name;
  }

  /** The pid of the restored workload's first process. */
  private static int root(AgentLab.Placed target) {
    Resolution found = new ContainerResolver(new ProcFs()).resolve(target.container().id());
    return ((Resolution.Found) found).container().root().pid();
  }

  @Test
  void anOperationThatWasNotStartedIsStarted() throws Exception {
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), ORDERS.labels())) {
      proven(target, restored(target, "AFTER_WRITE", "Claimed"));
    }
  }

  private static void proven(AgentLab.Placed target, GpuNodeOperationStatus status) {
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(Objects.requireNonNull(status.getProof()).processes()).hasSize(3);
    target.container().awaitSteps(3);
    target.container().verify(MIB, before);
  }
}
