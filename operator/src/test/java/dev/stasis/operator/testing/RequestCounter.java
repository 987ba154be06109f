package dev.stasis.operator.testing;

import dev.stasis.api.skew.TolerantSerialization;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Every request that an operator makes, as {@code GET /api/v1/namespaces/ml/pods?...}. */
public final class RequestCounter implements Interceptor {

  private final Queue<String> requests = new ConcurrentLinkedQueue<>();

  /** Returns a client of the same cluster whose requests are counted. */
  KubernetesClient counted(KubernetesClient client) {
    return new KubernetesClientBuilder()
        .withKubernetesSerialization(new TolerantSerialization())
        .withConfig(client.getConfiguration())
        .withHttpClientBuilderConsumer(
            http -> http.addOrReplaceInterceptor("request-counter", this))
        .build();
  }

  @Override
  public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
    String query = request.uri().getQuery();
    if (query == null || !query.contains("watch=true")) {
      requests.add(request.method() + " " + request.uri().getPath());
    }
  }

  /** Returns the requests so far whose method and path hold that text, watches left out. */
  public List<String> of(String text) {
    return requests.stream().filter(it -> it.contains(text)).toList();
  }
}
