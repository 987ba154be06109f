package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.node.AgentLife;
import dev.stasis.operator.testing.FakeCluster;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NodeChangeFilterTest {

  private final FakeCluster cluster = new FakeCluster();
  private final NodeChangeFilter changes =
      new NodeChangeFilter(
          cluster, Clock.fixed(World.START, ZoneOffset.UTC), new RestorableCondition());

  @Test
  void aNodeThatGoesOrComesConcernsNoCheckpointWhileAnotherOneFits() {
    node("gpu-1");
    List<GpuCheckpoint> ready =
        IntStream.range(0, 1000)
            .mapToObj(it -> checkpoint(ConditionValue.TRUE, "NodesFit", null))
            .toList();

    assertThat(changes.concerned(ready)).isEmpty();
    node("gpu-2");
    assertThat(changes.concerned(ready)).isEmpty();
    gone("gpu-1");
    assertThat(changes.concerned(ready)).isEmpty();
    gone("gpu-2");
    assertThat(changes.concerned(ready)).hasSize(1000);
  }

  @Test
  void theFirstNodeThatFitsConcernsTheCheckpointsThatNoNodeFits() {
    GpuCheckpoint waits = checkpoint(ConditionValue.FALSE, "NoNodeFits", null);
    GpuCheckpoint never = checkpoint(ConditionValue.FALSE, "NotPortable", null);
    GpuCheckpoint damaged = checkpoint(ConditionValue.FALSE, "ArtifactDamaged", null);
    List<GpuCheckpoint> all = List.of(waits, never, damaged);

    assertThat(changes.concerned(all)).isEmpty();
    node("gpu-1");
    assertThat(changes.concerned(all)).containsExactly(waits);
  }

  @Test
  void anArtifactOnTheDiskOfANodeNeedsThatNode() {
    node("gpu-1");
    node("gpu-2");
    GpuCheckpoint there = checkpoint(ConditionValue.TRUE, "NodesFit", "gpu-2");
    GpuCheckpoint shared = checkpoint(ConditionValue.TRUE, "NodesFit", null);

    gone("gpu-2");
    assertThat(changes.concerned(List.of(there, shared))).containsExactly(there);
  }

  @Test
  void aHeartbeatAloneIsNotRelevant() {
    node("gpu-1");
    GpuNode now = Samples.gpuNode("gpu-1", World.START);
    GpuNode heard = Samples.gpuNode("gpu-1", World.START.minusSeconds(60));
    GpuNode silent =
        Samples.gpuNode("gpu-1", World.START.minus(AgentLife.SILENT_AFTER).minusSeconds(1));
    GpuNode without = Samples.gpuNode("gpu-1", World.START);
    without.getStatus().setStores(List.of());

    assertThat(isRelevant(heard, now)).isFalse();
    assertThat(isRelevant(silent, now)).isTrue();
    assertThat(isRelevant(now, without)).isTrue();
    assertThat(changes.isRelevant(new Changed<>(Optional.empty(), Optional.of(now)))).isTrue();
  }

  private boolean isRelevant(GpuNode before, GpuNode after) {
    return changes.isRelevant(new Changed<>(Optional.of(before), Optional.of(after)));
  }

  private void node(String name) {
    cluster.nodes.add(Samples.node(name));
    cluster.gpuNodes.add(Samples.gpuNode(name, World.START));
  }

  private void gone(String name) {
    cluster.nodes.removeIf(it -> it.getMetadata().getName().equals(name));
    cluster.gpuNodes.removeIf(it -> it.getMetadata().getName().equals(name));
  }

  private static GpuCheckpoint checkpoint(
      ConditionValue restorable, String reason, @Nullable String node) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setNode(node);
    status.setArtifact(artifact);
    status.setHardware(new Hardware("580.1", null, "None", Samples.FINGERPRINT, "h"));
    status.setConditions(
        List.of(new Condition("Restorable", restorable, reason, "", World.START, 1L)));
    checkpoint.setStatus(status);
    return checkpoint;
  }
}
