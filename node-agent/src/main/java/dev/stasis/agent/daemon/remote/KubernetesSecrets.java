package dev.stasis.agent.daemon.remote;

import dev.stasis.store.StoreException;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/**
 * The Secrets of the operator's namespace that the chart lets agents read.
 *
 * @param namespace the operator's
 */
public record KubernetesSecrets(KubernetesClient client, String namespace)
    implements RemoteStores.Secrets {

  @Override
  public Map<String, byte[]> read(String name) throws StoreException {
    String what = "Secret %s in namespace %s".formatted(name, namespace);
    Secret secret;
    try {
      secret = client.secrets().inNamespace(namespace).withName(name).get();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
        throw new StoreException.AccessDenied(
            what + ": access denied; add the store to the chart's value stores", e);
      }
      throw new StoreException.Unreachable(what + ": " + e.getMessage(), e);
    }
    if (secret == null || secret.getData() == null) {
      throw new StoreException.WrongCredentials(
          what + ": expected a Secret with data, got none", null);
    }
    Map<String, byte[]> entries = new HashMap<>();
    secret.getData().forEach((key, value) -> entries.put(key, Base64.getDecoder().decode(value)));
    return entries;
  }
}
