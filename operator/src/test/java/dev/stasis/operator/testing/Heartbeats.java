package dev.stasis.operator.testing;

import dev.stasis.api.v1alpha1.GpuNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Agents, and kubelets where no {@link FakeKubelet} is, that say that they are alive, however long
 * a test takes.
 */
public final class Heartbeats implements AutoCloseable {

  /** Nobody counts on an agent after three minutes without a word, nor on a node after 40 s. */
  private static final long WORD_SECONDS = 10;

  private final KubernetesClient client;
  private final Clock clock;
  private final List<String> nodes;
  private final ScheduledExecutorService words = Executors.newSingleThreadScheduledExecutor();

  /** All agents, and the kubelets of those nodes. */
  public Heartbeats(KubernetesClient client, Clock clock, String... nodes) {
    this.client = client;
    this.clock = clock;
    this.nodes = List.of(nodes);
    var unused =
        words.scheduleWithFixedDelay(
            () -> {
              try {
                speak(Duration.ZERO);
                ready();
              } catch (KubernetesClientException e) {
                // One is gone, or the API server is busy: said again with the next word.
              }
            },
            WORD_SECONDS,
            WORD_SECONDS,
            TimeUnit.SECONDS);
  }

  private void ready() {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    String word =
        """
        {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Fake",
          "lastHeartbeatTime": "%s", "lastTransitionTime": "%s"}]}}\
        """
            .formatted(now, now);
    for (String node : nodes) {
      client
          .nodes()
          .withName(node)
          .subresource("status")
          .patch(PatchContext.of(PatchType.JSON_MERGE), word);
    }
  }

  /** All agents, as at a time that is still to come. */
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
