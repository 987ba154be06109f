package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An operator or an agent of the next release has written an operation of this node. */
class NewerOperationsTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab();

  private final Orders orders = Orders.ofSomebody();

  @Test
  void anOperationThatThisAgentDoesNotKnowWaitsForANewerOne() throws Exception {
    GpuNodeOperation newer = orders.checkpoint(workload.source(), how -> {});
    newer.getSpec().setType(OperationType.UNRECOGNIZED);
    String name = workload.lab().cluster().create(newer).getMetadata().getName();
    workload.lab().start();
    afterAllThatWasThereBefore();
    assertThat(workload.lab().cluster().get(name).orElseThrow().getStatus()).isNull();

    // The next release knows it as a checkpoint.
    workload.lab().cluster().edit(name, it -> it.getSpec().setType(OperationType.CHECKPOINT));
    assertThat(workload.lab().cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.DONE);
    workload.deleteArtifact(orders);
  }

  @Test
  void aWorkloadIsNotThawedBecauseOfAReportThatThisAgentDoesNotKnow() throws Exception {
    String name =
        workload
            .lab()
            .cluster()
            .create(
                orders.checkpoint(workload.source(), how -> how.setAfterwards(Afterwards.RESUME)))
            .getMetadata()
            .getName();
    DaemonChild.dies(workload.lab(), "AFTER", "gpu-checkpoint");
    describeTheEndOfANewerAgent();
    workload
        .lab()
        .cluster()
        .edit(
            name,
            it -> {
              GpuNodeOperationStatus status = Objects.requireNonNull(it.getStatus());
              status.setPhase(OperationPhase.FAILED);
              status.setOutcome(Outcome.UNRECOGNIZED);
              status.setWorkload(WorkloadState.FROZEN);
            });
    workload.lab().start();
    afterAllThatWasThereBefore();
    assertThat(workload.inHand()).hasSize(1);
    assertThat(workload.lab().cluster().status(name).getOutcome()).isEqualTo(Outcome.UNRECOGNIZED);

    workload.lab().stop();
    workload
        .lab()
        .cluster()
        .edit(name, it -> Objects.requireNonNull(it.getStatus()).setOutcome(Outcome.NOT_UNDONE));
    workload.lab().start();
    workload.lab().cluster().await(name, status -> status.getWorkload() == WorkloadState.RUNNING);
    assertThat(workload.inHand()).isEmpty();
  }

  /** The journal that a newer agent leaves behind: its end of the operation is in it, too. */
  private static void describeTheEndOfANewerAgent() throws Exception {
    workload
        .lab()
        .editJournals(
            journal ->
                journal
                    .withObject("/operation/status")
                    .put("phase", "Failed")
                    .put("outcome", "LeftForTheNextRelease")
                    .put("workload", "Frozen"));
  }

  /** The agent considers one operation after the other. */
  private static void afterAllThatWasThereBefore() {
    workload.deleteArtifact(Orders.ofSomebody());
  }
}
