package dev.stasis.operator.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import dev.stasis.operator.metric.Leadership;
import dev.stasis.operator.testing.Unconnected;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

public class NodeMetricsTest {

  private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");

  /** A node with a suspended and a frozen workload and a quarantined GPU, and a silent one. */
  public static void publish(MeterRegistry registry) {
    Map<String, GpuNode> nodes =
        Map.of(
            "node1",
            node(
                "node1",
                NOW.minusSeconds(60),
                frozen("Suspended", NOW.minusSeconds(7200)),
                frozen("Frozen", NOW.minusSeconds(40))),
            "node2",
            node("node2", NOW.minusSeconds(600)));
    new NodeMetrics(
            Unconnected.informers(), new Leadership(), Clock.fixed(NOW, ZoneOffset.UTC), registry)
        .publish(
            List.of("node1", "node2"),
            name -> Optional.ofNullable(nodes.get(name)),
            NodeMetricsTest::operations);
  }

  /** That of node1 is for a pod that the node has reported; node2 did not report again. */
  private static List<GpuNodeOperation> operations(String node) {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setSpec(new GpuNodeOperationSpec());
    operation.getSpec().setPod(new OperationPod("ml", "trainer", "uid", "main"));
    GpuNodeOperationStatus status = new GpuNodeOperationStatus();
    status.setPhase(OperationPhase.RUNNING);
    status.setWorkload(WorkloadState.FROZEN);
    status.setFrozenTime(NOW.minusSeconds(20));
    operation.setStatus(status);
    return List.of(operation);
  }

  private static GpuNode node(String name, Instant heartbeat, FrozenWorkload... frozen) {
    GpuNode node = new GpuNode();
    node.setMetadata(new ObjectMetaBuilder().withName(name).build());
    GpuNodeStatus status = new GpuNodeStatus();
    status.setAgent(new AgentIdentity("1", name, heartbeat, heartbeat, null, null));
    status.setFrozen(List.of(frozen));
    status.setGpus(
        List.of(
            new NodeGpu(
                "GPU-" + name, 0, "H200", 1L, null, null, "9.0", false, 0, frozen.length > 0, "")));
    node.setStatus(status);
    return node;
  }

  private static FrozenWorkload frozen(String state, Instant since) {
    return new FrozenWorkload(
        new ObjectReference("Pod", "ml", "trainer", "uid"), "main", since, null, state, null, null);
  }

  private static double value(MeterRegistry registry, String name, String... tags) {
    return registry.get(name).tags(tags).gauge().value();
  }

  @Test
  void aSuspendedWorkloadIsNotTakenForOneThatIsFrozenForTooLong() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    publish(registry);

    String name = "stasis_oldest_frozen_seconds";
    assertThat(value(registry, name, "node", "node1", "state", "Suspended")).isEqualTo(7200);
    assertThat(value(registry, name, "node", "node1", "state", "Frozen")).isEqualTo(40);
    assertThat(value(registry, name, "node", "node2", "state", "Suspended")).isZero();
    assertThat(value(registry, "stasis_frozen_pods", "node", "node1", "state", "Frozen"))
        .isEqualTo(1);
    assertThat(value(registry, "stasis_quarantined_gpus", "node", "node1")).isEqualTo(1);
    assertThat(value(registry, "stasis_quarantined_gpus", "node", "node2")).isZero();
  }

  @Test
  void aWorkloadThatWasFrozenAfterTheLastReportOfItsAgentCounts() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    publish(registry);

    String[] tags = {"node", "node2", "state", "Frozen"};
    assertThat(value(registry, "stasis_frozen_pods", tags)).isEqualTo(1);
    assertThat(value(registry, "stasis_oldest_frozen_seconds", tags)).isEqualTo(20);
  }

  @Test
  void anAgentWithoutHeartbeatIsDown() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    publish(registry);

    assertThat(value(registry, "stasis_agent_up", "node", "node1")).isEqualTo(1);
    assertThat(value(registry, "stasis_agent_up", "node", "node2")).isZero();
  }
}
