package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.DirectLab;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An eviction on the direct data path: a keeper holds the memory until the workload has ended. */
class DirectEvictionTest {

  private final AgentLab lab = new AgentLab(1, 128);

  @AfterEach
  void close() throws InterruptedException {
    lab.close();
  }

  @Test
  void theTimeUntilTheGpuIsFreeIsReportedOnceTheKeeperHasEnded() throws Exception {
    Orders orders = Orders.ofSomebody();
    DirectLab direct = new DirectLab(lab.engine());
    try (AgentLab.Placed victim = lab.pod("victim", direct.counter(), Map.of())) {
      victim.container().awaitSteps(3);
      lab.start();
      FileCluster cluster = lab.cluster();
      String held =
          cluster
              .create(orders.checkpoint(victim, how -> how.setAfterwards(Afterwards.HOLD)))
              .getMetadata()
              .getName();
      GpuNodeOperationStatus saved = cluster.await(held, OperationPhase.HELD);
      assertThat(saved.getDataPath()).as(saved.getMessage()).isEqualTo(DataPath.DIRECT);
      CheckpointTimings before = Objects.requireNonNull(saved.getTimings());
      assertThat(before.getFreedMilliseconds()).isNull();

      cluster.delete(victim.pod());
      String end =
          cluster.create(orders.of(OperationType.END, victim, held)).getMetadata().getName();
      GpuNodeOperationStatus ended = cluster.awaitEnd(end);
      assertThat(ended.getOutcome()).as(ended.getMessage()).isEqualTo(Outcome.DONE);
      CheckpointTimings after = Objects.requireNonNull(cluster.awaitEnd(held).getTimings());
      assertThat(after.getFreedMilliseconds())
          .isGreaterThanOrEqualTo(Objects.requireNonNull(before.getStoreMilliseconds()));
      assertThat(after.getStoreMilliseconds()).isEqualTo(before.getStoreMilliseconds());
    }
  }
}
