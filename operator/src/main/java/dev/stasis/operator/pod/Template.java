package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The pod as its user wrote it and the cluster completed it, to be kept in a status. */
public final class Template {

  private final KubernetesSerialization serialization;

  public Template(KubernetesSerialization serialization) {
    this.serialization = serialization;
  }

  /** Without what only says how it is doing. */
  public Map<String, Object> of(Pod pod) {
    Pod kept =
        new PodBuilder(pod)
            .withStatus(null)
            .editMetadata()
            .withManagedFields()
            .withResourceVersion(null)
            .endMetadata()
            .build();
    @SuppressWarnings("unchecked") // an object of JSON is one
    Map<String, Object> template = serialization.unmarshal(serialization.asJson(kept), Map.class);
    return template;
  }

  /** The same as a pod again. */
  public Optional<Pod> read(@Nullable Map<String, Object> template) {
    return template == null
        ? Optional.empty()
        : Optional.of(serialization.unmarshal(serialization.asJson(template), Pod.class));
  }
}
