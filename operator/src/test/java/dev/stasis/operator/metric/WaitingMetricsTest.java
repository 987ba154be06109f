package dev.stasis.operator.metric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingMetricsTest {

  /** One restore waits for a node, one has ended. */
  static void publish(MeterRegistry registry) {
    ConditionMetrics.waiting(registry)
        .publish(
            List.of(
                restore("ml", RestorePhase.PENDING, "NoNodeFits"),
                restore("ml", RestorePhase.PENDING, "WaitingForCheckpoint"),
                restore("web", RestorePhase.FAILED, "NoNodeFits")));
  }

  private static GpuRestore restore(String namespace, RestorePhase phase, String reason) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(new ObjectMetaBuilder().withNamespace(namespace).withName("back").build());
    GpuRestoreStatus status = new GpuRestoreStatus();
    status.setPhase(phase);
    status.setConditions(
        List.of(new Condition("Succeeded", ConditionValue.FALSE, reason, "", Instant.EPOCH, 1L)));
    restore.setStatus(status);
    return restore;
  }

  @Test
  void onlyRestoresThatWaitForANodeCount() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    publish(registry);

    assertThat(registry.get("stasis_restores_without_node").tag("namespace", "ml").gauge().value())
        .isEqualTo(1);
    assertThat(registry.get("stasis_restores_without_node").tag("namespace", "web").gauge().value())
        .isZero();
  }
}
