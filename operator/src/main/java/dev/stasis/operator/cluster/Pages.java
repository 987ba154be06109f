package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Lists the objects of a namespace from the API server page by page, and keeps those that match: a
 * namespace may hold thousands of checkpoints, each with the template of its pod.
 */
public final class Pages {

  /** The page size of the informers; a few MB of checkpoints. */
  private static final long PAGE = 500;

  private final KubernetesClient client;
  private final long page;

  public Pages(KubernetesClient client) {
    this(client, PAGE);
  }

  Pages(KubernetesClient client, long page) {
    this.client = client;
    this.page = page;
  }

  /**
   * Returns the objects of a kind in a namespace that match the predicate, from one consistent
   * list.
   */
  public <T extends HasMetadata> List<T> list(
      Class<T> kind, String namespace, Predicate<? super T> matching) {
    List<T> kept = new ArrayList<>();
    String next = null;
    do {
      KubernetesResourceList<T> list =
          client
              .resources(kind)
              .inNamespace(namespace)
              .list(new ListOptionsBuilder().withLimit(page).withContinue(next).build());
      list.getItems().stream().filter(matching).forEach(kept::add);
      next = list.getMetadata().getContinue();
    } while (next != null && !next.isEmpty());
    return kept;
  }
}
