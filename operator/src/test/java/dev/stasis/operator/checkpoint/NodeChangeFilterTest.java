package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.operator.testing.FakeCluster;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class NodeChangeFilterTest {

  private final FakeCluster cluster = new FakeCluster();
  private final NodeChangeFilter changes =
      new NodeChangeFilter(cluster, Clock.fixed(World.START, ZoneOffset.UTC));

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
