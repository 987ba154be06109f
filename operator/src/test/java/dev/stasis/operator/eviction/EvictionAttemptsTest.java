package dev.stasis.operator.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.RefusingApiServer;
import dev.stasis.operator.testing.TestConfig;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EvictionAttemptsTest {

  /** Without it, the artifact would count as the only copy and be retained. */
  @Test
  void theRestoreOfAnEvictedPodIsNotDeletedBeforeItsCheckpoint() throws IOException {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace("ml");
    checkpoint.getMetadata().setName("evict-trainer-1");
    checkpoint
        .getMetadata()
        .setAnnotations(Map.of(Api.EVICT_RESTORE_ANNOTATION, "evict-trainer-1"));
    try (RefusingApiServer server = new RefusingApiServer("AlreadyExists")) {
      new EvictionAttempts(server.client(), new FakeCluster(), new TestConfig("stasis-system"))
          .delete(new EvictionAttempt(checkpoint));

      assertThat(server.requests())
          .containsExactly(
              "DELETE /apis/stasis.dev/v1beta1/namespaces/ml/gpucheckpoints/evict-trainer-1");
    }
  }
}
