package dev.stasis.operator.testing;

import dev.stasis.api.v1beta1.GpuNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Heartbeats of the agents and kubelets of a test, however long the test takes. */
public final class Heartbeats implements AutoCloseable {

  /** An agent counts as lost after three minutes without a heartbeat, a node after 40 s. */
  private static final long WORD_SECONDS = 10;

  private final KubernetesClient client;
  private final Clock clock;
  private final Set<String> agents = ConcurrentHashMap.newKeySet();
  private final Set<String> kubelets = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService words = Executors.newSingleThreadScheduledExecutor();

  public Heartbeats(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
    var unused =
        words.scheduleWithFixedDelay(
            () -> {
              try {
                speak(Duration.ZERO);
                ready();
              } catch (KubernetesClientException e) {
                // The next heartbeat follows; the API server is busy.
              }
            },
            WORD_SECONDS,
            WORD_SECONDS,
            TimeUnit.SECONDS);
  }

  /** The agent of a node sends heartbeats from now on. */
  public void agent(String node) {
    agents.add(node);
  }

  /** The agent of a node falls silent. */
  public void silence(String node) {
    agents.remove(node);
  }

  /** The kubelet of a node sends heartbeats from now on. */
  public void kubelet(String node) {
    kubelets.add(node);
  }

  private void ready() {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    String word =
        """
        {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Fake",
          "lastHeartbeatTime": "%s", "lastTransitionTime": "%s"}]}}\
        """
            .formatted(now, now);
    for (String node : kubelets) {
      client
          .nodes()
          .withName(node)
          .subresource("status")
          .patch(PatchContext.of(PatchType.JSON_MERGE), word);
    }
  }

  /** Sends the heartbeats of all agents, as of a time that is still to come. */
  public void speak(Duration ahead) {
    String word =
        "{\"status\":{\"agent\":{\"heartbeatTime\":\"%s\"}}}"
            .formatted(clock.instant().plus(ahead).truncatedTo(ChronoUnit.SECONDS));
    for (String name : agents) {
      var handle = client.resources(GpuNode.class).withName(name);
      GpuNode node = handle.get();
      if (node != null && node.getStatus() != null && node.getStatus().getAgent() != null) {
        handle.subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), word);
      }
    }
  }

  @Override
  public void close() {
    words.shutdownNow();
  }
}
