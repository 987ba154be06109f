package dev.stasis.operator.testing;

import dev.stasis.operator.cluster.Informers;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** For parts that want a cluster and are tested without one. */
public final class Unconnected {

  private Unconnected() {}

  /** Informers that are never started: no API server is asked. */
  public static Informers informers() {
    return new Informers(new KubernetesClientBuilder().build(), new TestConfig("stasis-system"));
  }
}
