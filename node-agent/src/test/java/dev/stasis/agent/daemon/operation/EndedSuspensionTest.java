package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.DirectLab;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On the direct data path all device memory of a suspended workload is in the memory stage. */
class EndedSuspensionTest {

  private final AgentLab lab = new AgentLab(1, 128);

  @AfterEach
  void close() throws InterruptedException {
    lab.close();
  }

  @Test
  void theStageOfASuspendedWorkloadThatHasEndedIsRemovedAndItsResumeReportsTheEnd()
      throws Exception {
    Orders orders = Orders.ofSomebody();
    FileCluster cluster = lab.cluster();
    try (AgentLab.Placed pod =
        lab.pod("suspended", new DirectLab(lab.engine()).counter(), Map.of())) {
      pod.container().awaitSteps(3);
      lab.start();
      String suspension = cluster.create(orders.suspend(pod)).getMetadata().getName();
      GpuNodeOperationStatus status = cluster.awaitEnd(suspension);
      assertThat(status.getWorkload()).as(status.getMessage()).isEqualTo(WorkloadState.SUSPENDED);
      assertThat(stageIsEmpty()).isFalse();

      pod.container().end();
      Awaitility.await("the end of the stage").atMost(FileCluster.LIMIT).until(this::stageIsEmpty);
      assertThat(lab.engine().engine().thaw().inHand())
          .extracting(Work::phase)
          .containsExactly(Work.Phase.SUSPENDED);

      String resume =
          cluster.create(orders.of(OperationType.RESUME, pod, suspension)).getMetadata().getName();
      GpuNodeOperationStatus resumed = cluster.awaitEnd(resume);
      assertThat(resumed.getOutcome()).as(resumed.getMessage()).isEqualTo(Outcome.LOST);
      assertThat(resumed.getWorkload()).isEqualTo(WorkloadState.ENDED);
    }
    lab.engine().assertNothingLeft();
  }

  private boolean stageIsEmpty() {
    try (Stream<Path> stages = Files.list(lab.engine().memoryStage())) {
      return stages.findAny().isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
