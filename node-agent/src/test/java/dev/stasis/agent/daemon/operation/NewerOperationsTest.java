package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** An operator or an agent of the next release has written an operation of this node. */
class NewerOperationsTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed source;

  private final Orders orders = Orders.ofSomebody();

  @BeforeAll
  static void begin() {
    lab = new AgentLab(1, 128);
    source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "20"),
            Map.of());
    source.container().awaitSteps(3);
  }

  @AfterEach
  void theWorkloadRunsAndNothingIsLeft() throws InterruptedException {
    lab.stop();
    lab.engine().assertNothingLeft();
    source.container().awaitSteps(3);
    source.container().verify(MIB);
  }

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    lab.close();
  }

  @Test
  void anOperationThatThisAgentDoesNotKnowWaitsForANewerOne() throws Exception {
    GpuNodeOperation newer = orders.checkpoint(source, how -> {});
    newer.getSpec().setType(OperationType.UNRECOGNIZED);
    String name = lab.cluster().create(newer).getMetadata().getName();
    lab.start();
    afterAllThatWasThereBefore();
    assertThat(lab.cluster().get(name).orElseThrow().getStatus()).isNull();

    // The next release knows it as a checkpoint.
    lab.cluster().edit(name, it -> it.getSpec().setType(OperationType.CHECKPOINT));
    assertThat(lab.cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.DONE);
    delete(orders);
  }

  @Test
  void aWorkloadIsNotThawedBecauseOfAReportThatThisAgentDoesNotKnow() throws Exception {
    String name =
        lab.cluster()
            .create(orders.checkpoint(source, how -> how.setAfterwards(Afterwards.RESUME)))
            .getMetadata()
            .getName();
    DaemonChild.dies(lab, "AFTER", "gpu-checkpoint");
    describeTheEndOfANewerAgent();
    lab.cluster()
        .edit(
            name,
            it -> {
              GpuNodeOperationStatus status = Objects.requireNonNull(it.getStatus());
              status.setPhase(OperationPhase.FAILED);
              status.setOutcome(Outcome.UNRECOGNIZED);
              status.setWorkload(WorkloadState.FROZEN);
            });
    lab.start();
    afterAllThatWasThereBefore();
    assertThat(inHand()).hasSize(1);
    assertThat(lab.cluster().status(name).getOutcome()).isEqualTo(Outcome.UNRECOGNIZED);

    lab.stop();
    lab.cluster()
        .edit(name, it -> Objects.requireNonNull(it.getStatus()).setOutcome(Outcome.NOT_UNDONE));
    lab.start();
    lab.cluster().await(name, status -> status.getWorkload() == WorkloadState.RUNNING);
    assertThat(inHand()).isEmpty();
  }

  private static List<Work> inHand() {
    return lab.engine().engine().thaw().inHand();
  }

  /** The journal that a newer agent leaves behind: its end of the operation is in it, too. */
  private static void describeTheEndOfANewerAgent() throws Exception {
    JsonMapper json = new JsonMapper();
    for (Work work : inHand()) {
      Path journal =
          lab.engine().state().resolve("work").resolve(work.containerId()).resolve("work.json");
      ObjectNode content = (ObjectNode) json.readTree(journal.toFile());
      content
          .withObject("/operation/status")
          .put("phase", "Failed")
          .put("outcome", "LeftForTheNextRelease")
          .put("workload", "Frozen");
      json.writeValue(journal.toFile(), content);
    }
  }

  /** The agent considers one operation after the other. */
  private static void afterAllThatWasThereBefore() {
    delete(Orders.ofSomebody());
  }

  private static void delete(Orders of) {
    String name = lab.cluster().create(of.delete()).getMetadata().getName();
    assertThat(lab.cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.DONE);
  }
}
