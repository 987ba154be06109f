package dev.stasis.operator.operation;

import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.client.KubernetesClient;

/** What the container puts together in the product. */
public final class OperationParts {

  private OperationParts() {}

  public static Operations operations(
      KubernetesClient client, Informers informers, StasisConfig config) {
    return new ClusterOperations(client, informers, config);
  }

  public static OperationSource source(Informers informers) {
    return new OperationSource(informers);
  }
}
