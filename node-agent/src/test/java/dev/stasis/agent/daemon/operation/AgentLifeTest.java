package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The agent among its surroundings: an API server that goes, an order to go itself. */
class AgentLifeTest {

  private static final int MIB = 16;

  /** Less than a freeze needs beside the device memory. */
  private static final long TIGHT = 128L << 20;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  private final Orders orders = Orders.ofSomebody();

  @BeforeAll
  static void begin() throws InterruptedException {
    lab = new AgentLab(1, 128);
    lab.start();
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  private static ContainerSpec counter() {
    return ContainerSpec.counter(
        lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--fork", "1");
  }

  private static String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  @Test
  void theEndIsWrittenWhenTheApiServerIsBack() {
    try (AgentLab.Placed source = lab.pod("trainer", counter(), Map.of())) {
      source.container().awaitSteps(3);
      lab.engine().gpus().fault("checkpoint", "hold");
      lab.cluster().goAwayAfter(status -> status.getWorkload() == WorkloadState.FROZEN);
      String name = order(orders.checkpoint(source, how -> {}));
      lab.cluster().await(name, status -> status.getWorkload() == WorkloadState.FROZEN);
      lab.awaitHeld("checkpoint");
      lab.engine().gpus().release("checkpoint");
      Awaitility.await("the artifact, without an API server")
          .atMost(FileCluster.LIMIT)
          .until(
              () -> Files.exists(lab.engine().store().resolve("ml/train-" + orders.requester())));
      source.container().awaitSteps(3);
      assertThat(Objects.requireNonNull(lab.cluster().status(name).getPhase()).isFinal()).isFalse();
      lab.cluster().comeBack();
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(lab.cluster().history(name))
          .extracting(said -> new OperationJson().tree(said))
          .as("writes that say nothing new")
          .doesNotHaveDuplicates();
      source.container().verify(MIB);
    }
  }

  /** The workload runs again by then: what is left to do is to publish. */
  @Test
  void anArtifactIsFinishedByAnAgentThatGoes() throws Exception {
    try (AgentLab.Placed source = lab.pod("finished", counter(), Map.of())) {
      source.container().awaitSteps(3);
      lab.engine().gpus().fault("restore", "hold");
      Hooks hooks =
          new Hooks(null, List.of(new Hook(new ExecAction(List.of("goes-on")), null, null, null)));
      String name = order(orders.checkpoint(source, how -> how.setHooks(hooks)));
      lab.awaitHeld("restore");
      // The agent stops meanwhile, and waits for the step in hand.
      CompletableFuture<Void> released =
          CompletableFuture.runAsync(
              () -> lab.engine().gpus().release("restore"),
              CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS));
      lab.stop();
      released.join();
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
      lab.start();
      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(lab.node().ran()).containsOnlyOnce("goes-on");
      assertThat(lab.engine().store().resolve("ml/train-" + orders.requester())).exists();
      source.container().verify(MIB);
    }
  }

  @Test
  void oneThatGetsNoRoomGivesUp() throws Exception {
    lab.stop();
    lab.waitForRoom(Duration.ofMillis(300));
    lab.start();
    try (AgentLab.Placed source = lab.pod("cramped", counter().withMemoryLimit(TIGHT), Map.of())) {
      source.container().awaitSteps(3);
      String name =
          order(
              orders.checkpoint(source, how -> how.setMemoryLimitPolicy(MemoryLimitPolicy.RESIZE)));
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);

      assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.REFUSED);
      assertThat(status.getReason()).isEqualTo("NoRoom");
      assertThat(lab.cluster().history(name))
          .extracting(GpuNodeOperationStatus::getReason)
          .as("it waited before")
          .contains(RoomWait.WAITING);
      source.container().awaitSteps(3);
      source.container().verify(MIB);
    } finally {
      lab.stop();
      lab.waitForRoom(AgentLab.BRIEF.room());
      lab.start();
    }
  }

  @Test
  void oneThatWaitsForRoomSurvivesARolloutAndCanBeCancelled() throws Exception {
    try (AgentLab.Placed source = lab.pod("tight", counter().withMemoryLimit(TIGHT), Map.of())) {
      source.container().awaitSteps(3);
      String name =
          order(
              orders.checkpoint(source, how -> how.setMemoryLimitPolicy(MemoryLimitPolicy.RESIZE)));
      GpuNodeOperationStatus waiting =
          lab.cluster().await(name, status -> RoomWait.WAITING.equals(status.getReason()));
      assertThat(waiting.getPhase()).isEqualTo(OperationPhase.CLAIMED);
      var room = Objects.requireNonNull(waiting.getRoom());
      assertThat(room.limitBytes()).isEqualTo(TIGHT);
      assertThat(room.neededBytes()).isGreaterThan(TIGHT);

      lab.stop();
      assertThat(lab.cluster().status(name).getPhase()).isEqualTo(OperationPhase.CLAIMED);
      lab.start();
      lab.cluster().edit(name, operation -> operation.getSpec().setCancel(true));
      GpuNodeOperationStatus status = lab.cluster().awaitEnd(name);
      assertThat(status.getPhase()).isEqualTo(OperationPhase.CANCELLED);
      assertThat(status.getOutcome()).isEqualTo(Outcome.UNDONE);

      GpuNodeOperationStatus refused =
          lab.cluster()
              .awaitEnd(
                  order(
                      Orders.ofSomebody()
                          .checkpoint(
                              source, how -> how.setMemoryLimitPolicy(MemoryLimitPolicy.FAIL))));
      assertThat(refused.getReason()).isEqualTo("NoRoom");
      assertThat(refused.getOutcome()).isEqualTo(Outcome.REFUSED);
      source.container().awaitSteps(3);
      source.container().verify(MIB);
    }
  }
}
