package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A workload is held with its artifact, and its operation is lost, from the journal too. */
class LostHoldTest {

  private final AgentLab lab = new AgentLab(1, 128);
  private final Orders orders = Orders.ofSomebody();

  @AfterEach
  void close() throws InterruptedException {
    lab.close();
  }

  private List<Work.Phase> recorded() {
    return lab.engine().engine().thaw().inHand().stream().map(Work::phase).toList();
  }

  /** The artifact may have been restored elsewhere. */
  @Test
  void aHeldWorkloadInADeletedPodIsNotThawed() throws Exception {
    try (AgentLab.Placed source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "16", "--interval-ms", "100"),
            Map.of())) {
      source.container().awaitSteps(3);
      lab.start();
      String name =
          lab.cluster()
              .create(orders.checkpoint(source, how -> how.setAfterwards(Afterwards.HOLD)))
              .getMetadata()
              .getName();
      lab.cluster().await(name, OperationPhase.HELD);
      lab.stop();
      lab.forgetOperations();
      lab.cluster().remove(name);
      lab.cluster().delete(source.pod());

      lab.start();
      // Long enough for several attempts: the first is due at once, the next one after 200 ms.
      Awaitility.await("a workload that stays held")
          .during(Duration.ofSeconds(3))
          .atMost(FileCluster.LIMIT)
          .until(() -> recorded().equals(List.of(Work.Phase.HELD)));

      source.container().end();
      Awaitility.await("the end of the record")
          .atMost(FileCluster.LIMIT)
          .until(() -> recorded().isEmpty());
    }
    lab.engine().assertNothingLeft();
  }
}
