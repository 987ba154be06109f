package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.DirectLab;
import dev.stasis.agent.testing.SimGpuNode;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On the direct data path a workload is frozen before the driver locks it. */
class DirectFrozenTimeTest {

  private final AgentLab lab = new AgentLab(1, 128);

  @AfterEach
  void close() throws InterruptedException {
    lab.close();
  }

  @Test
  void theWorkloadCountsAsFrozenFromTheMomentItsGatesClose() throws Exception {
    Orders orders = Orders.ofSomebody();
    DirectLab direct = new DirectLab(lab.engine());
    try (AgentLab.Placed pod = lab.pod("train", direct.counter(), Map.of())) {
      pod.container().awaitSteps(3);
      lab.start();
      FileCluster cluster = lab.cluster();
      SimGpuNode gpus = lab.engine().gpus();
      // The keeper's copy on the GPU, which it makes when the workload has no memory any more.
      gpus.fault("copyDtoD", "hold");
      String name = cluster.create(orders.checkpoint(pod, how -> {})).getMetadata().getName();
      lab.awaitHeld("copyDtoD");

      GpuNodeOperationStatus frozen =
          cluster.await(name, status -> status.getWorkload() == WorkloadState.FROZEN);

      assertThat(frozen.getFrozenTime()).isNotNull();
      gpus.release("copyDtoD");
      GpuNodeOperationStatus ended = cluster.awaitEnd(name);
      assertThat(ended.getOutcome()).as(ended.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(ended.getFrozenTime()).isEqualTo(frozen.getFrozenTime());
    }
  }
}
