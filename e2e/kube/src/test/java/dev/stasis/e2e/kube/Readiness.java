package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.GpuNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;

/** Waits until every node has said what it has. */
final class Readiness {

  /** Three JVMs and their pods start beside each other: half a minute each on a busy machine. */
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private final KubernetesClient admin;

  Readiness(KubernetesClient admin) {
    this.admin = admin;
  }

  void await(List<String> nodes, BooleanSupplier isReady) {
    Awaitility.await("operator, agents and GpuNodes of " + nodes)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(500))
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> isReady.getAsBoolean() && nodes.stream().allMatch(this::isPublished));
  }

  private boolean isPublished(String node) {
    GpuNode found = admin.resources(GpuNode.class).withName(node).get();
    return found != null && found.getStatus() != null && found.getStatus().getGpus() != null;
  }
}
