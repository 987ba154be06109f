package dev.stasis.operator.metric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class DamageMetricsTest {

  /** One checkpoint is damaged, one fits no node, one is whole. */
  static void publish(MeterRegistry registry) {
    ConditionMetrics.damaged(registry)
        .publish(
            List.of(
                checkpoint("ml", ConditionValue.FALSE, "ArtifactDamaged"),
                checkpoint("ml", ConditionValue.FALSE, "NoNodeFits"),
                checkpoint("web", ConditionValue.TRUE, "NodesFit")));
  }

  private static GpuCheckpoint checkpoint(String namespace, ConditionValue value, String reason) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(new ObjectMetaBuilder().withNamespace(namespace).withName("c").build());
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setConditions(
        List.of(new Condition("Restorable", value, reason, "", Instant.EPOCH, 1L)));
    checkpoint.setStatus(status);
    return checkpoint;
  }

  @Test
  void onlyDamagedArtifactsCount() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    publish(registry);

    assertThat(registry.get("stasis_damaged_checkpoints").tag("namespace", "ml").gauge().value())
        .isEqualTo(1);
    assertThat(registry.get("stasis_damaged_checkpoints").tag("namespace", "web").gauge().value())
        .isZero();
  }
}
