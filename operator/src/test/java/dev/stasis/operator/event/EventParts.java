package dev.stasis.operator.event;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;

/** What the container puts together in the product. */
public final class EventParts {

  private EventParts() {}

  public static EventRecorder events(KubernetesClient client, Clock clock) {
    return new ClusterEvents(client, clock);
  }
}
