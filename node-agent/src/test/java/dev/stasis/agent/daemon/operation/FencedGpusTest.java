package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A GPU is fenced for as long as a workload that could not be thawed is frozen on it. */
class FencedGpusTest {

  @SuppressWarnings("NullAway.Init")
  private AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private MeterRegistry metrics;

  @BeforeEach
  void createNode() {
    lab = new AgentLab(2, 128);
    metrics = lab.freshMetrics();
  }

  @AfterEach
  void end() throws InterruptedException {
    lab.close();
  }

  private AgentLab.Placed pod(String name, int gpu) {
    AgentLab.Placed pod =
        lab.pod(
            name,
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "8", "--interval-ms", "100")
                .withGpus(gpu),
            Map.of());
    pod.container().awaitSteps(3);
    return pod;
  }

  private String checkpoint(AgentLab.Placed pod, Afterwards afterwards) {
    return lab.cluster()
        .create(Orders.ofSomebody().checkpoint(pod, how -> how.setAfterwards(afterwards)))
        .getMetadata()
        .getName();
  }

  private void awaitNotThawed(String operation) {
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(operation);
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.NOT_UNDONE);
    assertThat(status.getWorkload()).isEqualTo(WorkloadState.FROZEN);
  }

  private void awaitWorkload(String operation, WorkloadState state) {
    lab.cluster().await(operation, status -> status.getWorkload() == state);
  }

  /** Ends a workload that no agent thaws any more, because its pod is being deleted. */
  private void endFrozen(AgentLab.Placed pod, String operation) throws InterruptedException {
    pod.container().end();
    lab.start();
    awaitWorkload(operation, WorkloadState.ENDED);
    lab.stop();
    lab.engine().assertNothingLeft();
  }

  @Test
  void theGpuOfALateThawIsReleasedWhileAnotherWorkloadIsFrozenOnAnotherGpu() throws Exception {
    try (AgentLab.Placed thawed = pod("thawed", 0);
        AgentLab.Placed frozen = pod("frozen", 1)) {
      lab.start();
      lab.engine().gpus().fault("unlock", "error 999 always");
      String late = checkpoint(thawed, Afterwards.RESUME);
      String other = checkpoint(frozen, Afterwards.RESUME);
      awaitNotThawed(late);
      awaitNotThawed(other);
      lab.cluster().delete(frozen.pod());
      // A try that began before would thaw it.
      Awaitility.await("a try that finds its pod deleted")
          .atMost(FileCluster.LIMIT)
          .until(
              () ->
                  metrics.find("stasis.thaw.tries").tag("outcome", "PodDeleted").counter() != null);

      lab.engine().gpus().mend("unlock");
      awaitWorkload(late, WorkloadState.RUNNING);
      lab.stop();

      assertThat(lab.fenced()).containsExactly(lab.engine().uuid(1));
      endFrozen(frozen, other);
    }
  }

  /**
   * The journal misses the end of the late thaw, so the successor's recovery thaws the workload.
   */
  @Test
  void aGpuStaysFencedAfterARecoveryWhileAnotherWorkloadIsFrozenOnIt() throws Exception {
    try (AgentLab.Placed thawed = pod("thawed", 0);
        AgentLab.Placed frozen = pod("frozen", 0)) {
      lab.start();
      String other = checkpoint(frozen, Afterwards.HOLD);
      lab.cluster().await(other, OperationPhase.HELD);
      lab.engine().gpus().fault("unlock", "error 999 always");
      String late = checkpoint(thawed, Afterwards.RESUME);
      awaitNotThawed(late);
      lab.cluster().edit(other, operation -> operation.getSpec().setCancel(true));
      awaitNotThawed(other);
      lab.stop();
      lab.editJournals(
          journal -> {
            if (journal.at("/operation/metadata/name").asText().equals(late)) {
              journal.withObject("/operation/status").put("phase", "Undoing").remove("outcome");
            }
          });
      lab.cluster().delete(frozen.pod());

      lab.engine().gpus().mend("unlock");
      lab.start();
      awaitWorkload(late, WorkloadState.RUNNING);
      lab.stop();

      assertThat(lab.fenced()).containsExactly(lab.engine().uuid(0));
      endFrozen(frozen, other);
    }
  }
}
