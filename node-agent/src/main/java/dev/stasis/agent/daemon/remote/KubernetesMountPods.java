package dev.stasis.agent.daemon.remote;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.store.StoreException;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;

/**
 * The mount pods of a node, from the API server.
 *
 * @param namespace the operator's
 */
public record KubernetesMountPods(KubernetesClient client, String namespace, String node)
    implements MountPods.Pods {

  @Override
  public List<Pod> ofStore(String store) throws StoreException {
    try {
      // The client gives up after 10 s, as for every request.
      return client
          .pods()
          .inNamespace(namespace)
          .withLabel(Api.STORE_LABEL, store)
          .withField("spec.nodeName", node)
          .list()
          .getItems();
    } catch (KubernetesClientException e) {
      throw new StoreException.Unreachable(
          "pods of namespace %s with label %s=%s: %s"
              .formatted(namespace, Api.STORE_LABEL, store, e.getMessage()),
          e);
    }
  }
}
