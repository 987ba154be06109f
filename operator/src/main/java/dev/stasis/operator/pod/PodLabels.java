package dev.stasis.operator.pod;

import dev.stasis.operator.cluster.StaleWrites;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Labels of pods, by which controllers and budgets select them. */
public final class PodLabels {

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final KubernetesClient client;

  public PodLabels(KubernetesClient client) {
    this.client = client;
  }

  /**
   * Changes labels of exactly this pod. Nothing is changed if it is gone or another pod has its
   * name.
   *
   * @param change values by key; null removes the label
   */
  public void change(Pod pod, Map<String, @Nullable String> change) {
    if (change.isEmpty()) {
      return;
    }
    // The API server refuses the uid of a former pod.
    Map<String, Object> patch =
        Map.of("metadata", Map.of("uid", pod.getMetadata().getUid(), "labels", change));
    StaleWrites.ignore(
        () ->
            client
                .pods()
                .inNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getMetadata().getName())
                .patch(MERGE, client.getKubernetesSerialization().asJson(patch)));
  }
}
