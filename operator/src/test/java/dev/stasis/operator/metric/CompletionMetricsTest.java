package dev.stasis.operator.metric;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.testing.TestConfig;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CompletionMetricsTest {

  /** Nothing is asked of an API server. */
  private final KubernetesClient client = new KubernetesClientBuilder().build();

  private final CompletionMetrics tally =
      new CompletionMetrics(new Informers(client, new TestConfig("stasis-system")));
  private final AtomicInteger counted = new AtomicInteger();

  @AfterEach
  void close() {
    client.close();
  }

  private static GpuRestore restore(RestorePhase phase) {
    GpuRestore restore = new GpuRestore();
    restore.setMetadata(new ObjectMetaBuilder().withName("back").withUid("uid").build());
    restore.setStatus(new GpuRestoreStatus());
    restore.getStatus().setPhase(phase);
    return restore;
  }

  private void turnEnds(RestorePhase phase) {
    tally.onceWritten(restore(RestorePhase.VERIFYING), phase.value(), counted::incrementAndGet);
  }

  private void watched(RestorePhase before, RestorePhase after) {
    tally.look(new Changed<>(Optional.of(restore(before)), Optional.of(restore(after))));
  }

  @Test
  void anEndWhoseWriteFailedCountsOnceItIsWritten() {
    turnEnds(RestorePhase.SUCCEEDED);
    turnEnds(RestorePhase.SUCCEEDED);
    assertThat(counted).hasValue(0);

    watched(RestorePhase.VERIFYING, RestorePhase.SUCCEEDED);
    assertThat(counted).hasValue(1);
  }

  @Test
  void aTurnThatSawAnOldStatusCountsNothingMore() {
    turnEnds(RestorePhase.SUCCEEDED);
    watched(RestorePhase.VERIFYING, RestorePhase.SUCCEEDED);
    turnEnds(RestorePhase.SUCCEEDED);
    watched(RestorePhase.SUCCEEDED, RestorePhase.SUCCEEDED);

    assertThat(counted).hasValue(1);
  }

  @Test
  void aWatchThatIsBehindForgetsNothing() {
    turnEnds(RestorePhase.SUCCEEDED);
    watched(RestorePhase.RESTORING, RestorePhase.VERIFYING);
    watched(RestorePhase.VERIFYING, RestorePhase.SUCCEEDED);

    assertThat(counted).hasValue(1);
  }

  @Test
  void anEndThatIsSeenForTheFirstTimeAfterAGapOfTheWatchCounts() {
    turnEnds(RestorePhase.SUCCEEDED);
    tally.look(new Changed<>(Optional.empty(), Optional.of(restore(RestorePhase.SUCCEEDED))));

    assertThat(counted).hasValue(1);
  }

  @Test
  void anUnexpectedEndIsNotCounted() {
    turnEnds(RestorePhase.SUCCEEDED);
    watched(RestorePhase.VERIFYING, RestorePhase.CANCELLED);
    turnEnds(RestorePhase.FAILED);
    tally.look(new Changed<>(Optional.of(restore(RestorePhase.VERIFYING)), Optional.empty()));
    watched(RestorePhase.VERIFYING, RestorePhase.FAILED);

    assertThat(counted).hasValue(0);
  }
}
