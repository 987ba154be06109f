package dev.stasis.agent.daemon.operation;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;

/** Pods in a real API server; asked each time, since a cache may be late. */
public final class KubernetesPods implements Pods {

  private final KubernetesClient client;

  public KubernetesPods(KubernetesClient client) {
    this.client = client;
  }

  @Override
  public Optional<Pod> find(String namespace, String name) throws ApiUnreachable {
    try {
      return Optional.ofNullable(client.pods().inNamespace(namespace).withName(name).get());
    } catch (KubernetesClientException e) {
      throw new ApiUnreachable("pod " + namespace + "/" + name + ": " + e.getMessage(), e);
    }
  }
}
