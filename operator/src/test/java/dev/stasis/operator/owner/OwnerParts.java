package dev.stasis.operator.owner;

import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.client.KubernetesClient;

/** What the container puts together in the product. */
public final class OwnerParts {

  private OwnerParts() {}

  public static Moves moves(KubernetesClient client, StasisConfig config) {
    return new Moves(client, config);
  }
}
