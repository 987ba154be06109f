package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The pod with the spec of its user and the cluster's defaults, stored in a status. */
public final class Template {

  private final KubernetesSerialization serialization;

  public Template(KubernetesSerialization serialization) {
    this.serialization = serialization;
  }

  /** Removes the fields that only describe its state. */
  public Map<String, Object> of(Pod pod) {
    Pod kept =
        new PodBuilder(pod)
            .withStatus(null)
            .editMetadata()
            .withManagedFields()
            .withResourceVersion(null)
            .endMetadata()
            .build();
    @SuppressWarnings("unchecked") // a JSON object becomes a map
    Map<String, Object> template = serialization.unmarshal(serialization.asJson(kept), Map.class);
    return template;
  }

  /** Converts it back to a pod. */
  public Optional<Pod> read(@Nullable Map<String, Object> template) {
    return template == null
        ? Optional.empty()
        : Optional.of(serialization.unmarshal(serialization.asJson(template), Pod.class));
  }
}
