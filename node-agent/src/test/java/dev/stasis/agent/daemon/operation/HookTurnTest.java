package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two workloads on one GPU; the hooks of the first one take as long as they may. */
class HookTurnTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  private final Orders slow = Orders.ofSomebody();
  private final Orders other = Orders.ofSomebody();

  @BeforeAll
  static void begin() throws InterruptedException {
    lab = new AgentLab(1, 128);
    lab.start();
  }

  @AfterAll
  static void end() throws InterruptedException {
    lab.close();
  }

  private static AgentLab.Placed pod(String name) {
    AgentLab.Placed pod =
        lab.pod(
            name,
            ContainerSpec.counter(
                lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--fork", "1"),
            Map.of());
    pod.container().awaitSteps(3);
    return pod;
  }

  private static String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private List<Hook> hook(String command) {
    return List.of(
        new Hook(
            new ExecAction(List.of(command + "-" + slow.requester())),
            null,
            TimeSpan.of("5m"),
            null));
  }

  private void awaitRun(String command) {
    Awaitility.await(command)
        .atMost(FileCluster.LIMIT)
        .until(() -> lab.node().ran().contains(command + "-" + slow.requester()));
  }

  @Test
  void aHookBeforeTheFreezeHoldsUpNoOtherPodOfItsGpuAndEndsWithACancel() throws Exception {
    try (AgentLab.Placed first = pod("slow-before");
        AgentLab.Placed second = pod("beside-it")) {
      Hooks hooks = new Hooks(hook("for-ever-before"), hook("after"));
      String held = order(slow.checkpoint(first, how -> how.setHooks(hooks)));
      awaitRun("for-ever-before");

      GpuNodeOperationStatus done =
          lab.cluster().awaitEnd(order(other.checkpoint(second, how -> {})));
      assertThat(done.getOutcome()).as(done.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(lab.cluster().status(held).getOutcome()).isNull();

      lab.cluster().edit(held, operation -> operation.getSpec().setCancel(true));
      GpuNodeOperationStatus cancelled = lab.cluster().awaitEnd(held);
      assertThat(cancelled.getPhase()).isEqualTo(OperationPhase.CANCELLED);
      assertThat(cancelled.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
      assertThat(cancelled.getFrozenTime()).isNull();
      assertThat(lab.node().ran()).contains("after-" + slow.requester());
      first.container().awaitSteps(3);
    }
  }

  @Test
  void aHookAfterTheFreezeHoldsUpNoOtherPodOfItsGpu() throws Exception {
    try (AgentLab.Placed first = pod("slow-after");
        AgentLab.Placed second = pod("beside-that")) {
      Hooks hooks =
          new Hooks(
              null,
              List.of(
                  new Hook(
                      new ExecAction(List.of("until-failed-after-" + slow.requester())),
                      null,
                      TimeSpan.of("5m"),
                      null)));
      String held = order(slow.checkpoint(first, how -> how.setHooks(hooks)));
      awaitRun("until-failed-after");

      GpuNodeOperationStatus done =
          lab.cluster().awaitEnd(order(other.checkpoint(second, how -> {})));
      assertThat(done.getOutcome()).as(done.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(lab.cluster().status(held).getOutcome()).isNull();

      lab.node().fail();
      GpuNodeOperationStatus ended = lab.cluster().awaitEnd(held);
      assertThat(ended.getOutcome()).as(ended.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(ended.getMessage()).contains("until-failed-after-");
    }
  }
}
