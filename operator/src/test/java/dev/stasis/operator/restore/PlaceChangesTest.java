package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.testing.FakeCluster;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What waits for a node is woken by what may make one fit, and by nothing else. */
class PlaceChangesTest {

  private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

  private final FakeCluster cluster = new FakeCluster();
  private final PlaceChanges changes = new PlaceChanges(cluster, Clock.fixed(NOW, ZoneOffset.UTC));

  @Test
  void anAgentThatComesWakes() {
    cluster.nodes.add(node(false));
    assertThat(changes.isOfAgent(new Changed<>(Optional.empty(), Optional.of(gpus(NOW))))).isTrue();
  }

  @Test
  void aHeartbeatAloneTriggersNoReconciliation() {
    cluster.nodes.add(node(false));
    assertThat(agent(NOW.minusSeconds(60), NOW)).isFalse();
  }

  @Test
  void aHeartbeatThatEndsASilenceWakes() {
    cluster.nodes.add(node(false));
    assertThat(agent(NOW.minus(Duration.ofHours(1)), NOW)).isTrue();
  }

  @Test
  void aVolumeThatIsMountedWakes() {
    cluster.nodes.add(node(false));
    GpuNode mounted = gpus(NOW);
    mounted
        .getStatus()
        .setStores(
            List.of(
                new NodeStore("claim", true, null, null, null, null, null, null)
                    .withVolumeId("1".repeat(32))));
    assertThat(changes.isOfAgent(new Changed<>(Optional.of(gpus(NOW)), Optional.of(mounted))))
        .isTrue();
  }

  @Test
  void aNodeThatIsUncordonedWakes() {
    cluster.gpuNodes.add(gpus(NOW));
    assertThat(node(node(true), node(false))).isTrue();
  }

  @Test
  void aChangedLabelTriggersAReconciliation() {
    cluster.gpuNodes.add(gpus(NOW));
    Node labelled =
        new NodeBuilder(node(false)).editMetadata().addToLabels("zone", "b").endMetadata().build();
    assertThat(node(node(false), labelled)).isTrue();
  }

  @Test
  void aReportOfTheKubeletTriggersNoReconciliation() {
    cluster.gpuNodes.add(gpus(NOW));
    assertThat(node(node(false), node(false))).isFalse();
  }

  @Test
  void aNodeWithoutGpusTriggersNoReconciliation() {
    assertThat(changes.isOfNode(new Changed<>(Optional.empty(), Optional.of(node(false)))))
        .isFalse();
  }

  @Test
  void onlyWhatHasNoTargetWaitsForANode() {
    GpuRestore restore = new GpuRestore();
    assertThat(PlaceChanges.waits(restore)).isFalse();
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(RestorePhase.PENDING);
    assertThat(PlaceChanges.waits(restore)).isTrue();
    restore.getStatus().setPod(new ObservedPod("trainer", "uid", "main", null));
    assertThat(PlaceChanges.waits(restore)).isFalse();
  }

  private boolean agent(Instant before, Instant after) {
    return changes.isOfAgent(new Changed<>(Optional.of(gpus(before)), Optional.of(gpus(after))));
  }

  private boolean node(Node before, Node after) {
    return changes.isOfNode(new Changed<>(Optional.of(before), Optional.of(after)));
  }

  private static GpuNode gpus(Instant heartbeat) {
    return Examples.gpuNode("gpu-1", heartbeat);
  }

  private static Node node(boolean cordoned) {
    return new NodeBuilder()
        .withNewMetadata()
        .withName("gpu-1")
        .endMetadata()
        .withNewSpec()
        .withUnschedulable(cordoned)
        .endSpec()
        .withNewStatus()
        .addNewCondition()
        .withType("Ready")
        .withStatus("True")
        .endCondition()
        .endStatus()
        .build();
  }
}
