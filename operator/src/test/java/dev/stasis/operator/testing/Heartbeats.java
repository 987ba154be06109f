package dev.stasis.operator.testing;

import dev.stasis.api.v1alpha1.GpuNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Agents that say that they are alive, however long a test takes. */
public final class Heartbeats implements AutoCloseable {

  /** Nobody counts on an agent after three minutes without a word. */
  private static final long WORD_SECONDS = 20;

  private final KubernetesClient client;
  private final Clock clock;
  private final ScheduledExecutorService words = Executors.newSingleThreadScheduledExecutor();

  public Heartbeats(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
    var unused =
        words.scheduleWithFixedDelay(
            () -> {
              try {
                speak(Duration.ZERO);
              } catch (KubernetesClientException e) {
                // One is gone, or the API server is busy: said again with the next word.
              }
            },
            WORD_SECONDS,
            WORD_SECONDS,
            TimeUnit.SECONDS);
  }

  /** All of them, as at a time that is still to come. */
  public void speak(Duration ahead) {
    String word =
        "{\"status\":{\"agent\":{\"heartbeatTime\":\"%s\"}}}"
            .formatted(clock.instant().plus(ahead).truncatedTo(ChronoUnit.SECONDS));
    for (GpuNode node : client.resources(GpuNode.class).list().getItems()) {
      if (node.getStatus() != null && node.getStatus().getAgent() != null) {
        client
            .resources(GpuNode.class)
            .withName(node.getMetadata().getName())
            .subresource("status")
            .patch(PatchContext.of(PatchType.JSON_MERGE), word);
      }
    }
  }

  @Override
  public void close() {
    words.shutdownNow();
  }
}
