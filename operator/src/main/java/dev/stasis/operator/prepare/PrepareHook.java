package dev.stasis.operator.prepare;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.admission.AdmissionHook;
import dev.stasis.operator.admission.Verdict;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.config.StasisConfig;
import dev.stasis.operator.pod.GpuPods;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.zjsonpatch.JsonDiff;
import jakarta.inject.Singleton;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Prepares new pods with the labels {@code stasis.dev/prepare} and {@code stasis.dev/data-path},
 * their own or their namespace's.
 */
@Singleton
class PrepareHook implements AdmissionHook {

  private final Cluster cluster;
  private final KubernetesSerialization serialization;
  private final Preparation preparation;

  PrepareHook(Cluster cluster, KubernetesClient client, StasisConfig config) {
    this.cluster = cluster;
    this.serialization = client.getKubernetesSerialization();
    this.preparation =
        new Preparation(
            new GpuPods(config.gpuResources()), new GateLibrary(config.holder().image()));
  }

  @Override
  public String path() {
    return "prepare";
  }

  @Override
  public Verdict review(AdmissionRequest request) {
    Pod pod = serialization.convertValue(request.getObject(), Pod.class);
    Optional<Pod> prepared =
        preparation.prepared(
            pod,
            label(pod, request.getNamespace(), Api.PREPARE_LABEL),
            label(pod, request.getNamespace(), Api.DATA_PATH_LABEL));
    return prepared
        .<Verdict>map(changed -> new Verdict.Changed(difference(pod, changed)))
        .orElseGet(Verdict::allowed);
  }

  private @Nullable String label(Pod pod, String namespace, String key) {
    return Marks.label(pod, key)
        .or(() -> cluster.namespace(namespace).flatMap(it -> Marks.label(it, key)))
        .orElse(null);
  }

  private String difference(Pod before, Pod after) {
    return JsonDiff.asJson(
            serialization.convertValue(before, JsonNode.class),
            serialization.convertValue(after, JsonNode.class))
        .toString();
  }
}
