package dev.stasis.operator.pod;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;

/** What the container puts together in the product. */
public final class PodParts {

  private PodParts() {}

  public static PodWrites writes(KubernetesClient client, Clock clock) {
    return new ClusterPodWrites(client, clock);
  }
}
