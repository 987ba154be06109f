package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pods of Jobs. A Job counts a deleted pod as failed unless it has released it before: the deletion
 * of a pod without the labels by which the Job selects it is not a failure.
 */
public final class JobPods {

  private static final List<String> FOUND_BY =
      List.of("batch.kubernetes.io/controller-uid", "controller-uid");

  private final PodLabels podLabels;

  public JobPods(KubernetesClient client) {
    this.podLabels = new PodLabels(client);
  }

  /** The Job releases the pod: it removes its owner reference and its finalizer shortly after. */
  public void release(Pod pod) {
    labels(pod, null);
  }

  /** A Job adopts a released pod again once it has the labels of the source. */
  public void takeBack(Pod pod, Pod source) {
    labels(pod, source.getMetadata().getLabels());
  }

  private void labels(Pod pod, @Nullable Map<String, String> from) {
    Map<String, @Nullable String> labels = new HashMap<>();
    for (String key : FOUND_BY) {
      labels.put(key, from == null ? null : from.get(key));
    }
    podLabels.change(pod, labels);
  }
}
