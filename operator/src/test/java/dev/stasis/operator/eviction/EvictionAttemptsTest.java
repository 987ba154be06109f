package dev.stasis.operator.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.RefusingApiServer;
import dev.stasis.operator.testing.TestConfig;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EvictionAttemptsTest {

  private static final String OBJECTS = "DELETE /apis/stasis.dev/v1beta1/namespaces/ml/";

  /** Without it, the artifact would count as the only copy and be retained. */
  @Test
  void theRestoreOfAnEvictedPodIsNotDeletedBeforeItsCheckpoint() throws IOException {
    assertThat(deleted(RestorePhase.SUCCEEDED))
        .containsExactly(OBJECTS + "gpucheckpoints/evict-trainer-1");
  }

  /** It waits for the artifact, and the deletion of the checkpoint waits for it. */
  @Test
  void aRestoreThatWaitsForALostArtifactIsDeletedWithItsCheckpoint() throws IOException {
    assertThat(deleted(RestorePhase.PENDING))
        .containsExactly(
            OBJECTS + "gpurestores/evict-trainer-1", OBJECTS + "gpucheckpoints/evict-trainer-1");
  }

  /** Returns the requests that delete an attempt with a restore in that phase. */
  private static List<String> deleted(RestorePhase phase) throws IOException {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace("ml");
    checkpoint.getMetadata().setName("evict-trainer-1");
    checkpoint
        .getMetadata()
        .setAnnotations(Map.of(Api.EVICT_RESTORE_ANNOTATION, "evict-trainer-1"));
    GpuRestore restore = new GpuRestore();
    restore.getMetadata().setNamespace("ml");
    restore.getMetadata().setName("evict-trainer-1");
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(phase);
    FakeCluster cluster = new FakeCluster();
    cluster.restores.add(restore);
    try (RefusingApiServer server = new RefusingApiServer("AlreadyExists")) {
      new EvictionAttempts(server.client(), cluster, new TestConfig("stasis-system"))
          .delete(new EvictionAttempt(checkpoint));
      return List.copyOf(server.requests());
    }
  }
}
