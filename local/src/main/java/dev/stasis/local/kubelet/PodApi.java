package dev.stasis.local.kubelet;

import dev.stasis.local.api.PodRules;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The kubelet's writes to the API. Other clients write too, so a conflict is read again and
 * retried.
 */
final class PodApi {

  /** Another client's write occasionally comes between a read and a write, but never this often. */
  private static final int TRIES = 10;

  private final KubernetesClient client;

  PodApi(KubernetesClient client) {
    this.client = client;
  }

  /** Writes the status if it has changed. */
  void writeStatus(Pod pod, Function<Pod, PodStatus> status) {
    retrying(
        pod,
        now -> {
          PodStatus wanted = status.apply(now);
          if (!Objects.equals(wanted, now.getStatus())) {
            now.setStatus(wanted);
            client.resource(now).updateStatus();
          }
        });
  }

  /** Removes the finalizer of a deleted pod. */
  void letGo(Pod pod) {
    retrying(
        pod,
        now -> {
          List<String> finalizers = new ArrayList<>(now.getMetadata().getFinalizers());
          if (finalizers.remove(PodRules.FINALIZER)) {
            now.getMetadata().setFinalizers(finalizers);
            client.resource(now).update();
          }
        });
  }

  private void retrying(Pod pod, Consumer<Pod> change) {
    for (int left = TRIES; ; left--) {
      Pod now = client.resource(pod).get();
      if (now == null || !now.getMetadata().getUid().equals(pod.getMetadata().getUid())) {
        return;
      }
      try {
        change.accept(now);
        return;
      } catch (KubernetesClientException e) {
        if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
          return;
        }
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT || left == 1) {
          throw e;
        }
      }
    }
  }
}
