package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.PodBuilder;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A node that is gone takes along what was on it, and nothing waits for it for ever. */
@ExtendWith(OnACluster.class)
class NodeGoneTest {

  @Test
  void aWorkloadOfALostNodeIsReportedLostAndItsObjectsAreReleased(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: no test takes a node away from a cluster that is not its own");
    LocalInstallation local = (LocalInstallation) scenario.installation();
    Assumptions.assumeTrue(local.nodes().size() > 1, "skipped: it takes two nodes");
    String node = local.nodes().get(1);
    Workload workload = Workload.start(scenario, "trainer", pod -> on(node, pod));
    // It is at work until the node goes; a driver call that hangs is what a dead node looks like.
    local.fault(node, "checkpoint", "slow 60000");
    CheckpointRequest request = CheckpointRequest.apply(scenario, "train-1", workload.name());
    request.await(CheckpointPhase.FREEZING);

    LostNode lost = new LostNode(scenario, local, node);
    Node was = lost.vanish();
    try {
      GpuCheckpointStatus status = request.awaitEnd();
      assertThat(CheckpointRequest.phases(status)).endsWith("Failed");
      assertThat(CheckpointRequest.condition(status, "SourceRunning").status())
          .isEqualTo(ConditionValue.FALSE);
      assertThat(CheckpointRequest.condition(status, "Failed").reason()).isEqualTo("WorkloadLost");
      assertThat(CheckpointRequest.condition(status, "Failed").message()).contains(node);
      scenario.kubectl("delete", "gckpt", "train-1", Scenario.TIMEOUT);
      scenario.until("its operation is let go", () -> scenario.operations().isEmpty());
    } finally {
      local.clearFaults();
      lost.comesBackAs(was);
    }
    // Whoever was frozen there is gone or runs: its GPUs serve others.
    Workload.start(scenario, "next", pod -> on(node, pod)).verifyGoesOn();
  }

  private static PodBuilder on(String node, PodBuilder pod) {
    return pod.editSpec().addToNodeSelector("kubernetes.io/hostname", node).endSpec();
  }
}
