package dev.stasis.operator.pod;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
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
    // A builder of the whole pod would copy its spec and status, which are most of it.
    Pod kept = new Pod();
    kept.setApiVersion(pod.getApiVersion());
    kept.setKind(pod.getKind());
    kept.setMetadata(
        new ObjectMetaBuilder(pod.getMetadata())
            .withManagedFields()
            .withResourceVersion(null)
            .build());
    kept.setSpec(pod.getSpec());
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
