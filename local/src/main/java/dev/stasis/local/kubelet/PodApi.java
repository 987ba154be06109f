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

/** What the kubelet writes into the API. Others write there too, so it reads again and retries. */
final class PodApi {

  /** Somebody else's write comes between a read and a write now and then, never so often. */
  private static final int TRIES = 10;

  private final KubernetesClient client;

  PodApi(KubernetesClient client) {
    this.client = client;
  }

  /** Writes the status when it is another than what is there. */
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

  /** Lets a deleted pod go. */
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
