package dev.stasis.operator.schedule;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.api.v1alpha1.Api;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which checkpoints are of this very workload: those of its pod, and of the pods from which that
 * one was restored. Another pod of the same name is another workload.
 */
final class Lineage {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Those of all. */
  List<Taken> of(Pod pod, List<Taken> all) {
    Set<String> uids = new HashSet<>(Set.of(pod.getMetadata().getUid()));
    String from =
        Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.<String, String>of())
            .get(Api.CHECKPOINT_LABEL);
    Set<String> seen = new HashSet<>();
    while (from != null && seen.add(from)) {
      String name = from;
      Optional<Taken> source = all.stream().filter(it -> it.name().equals(name)).findFirst();
      source.map(Taken::podUid).ifPresent(uids::add);
      from = source.map(Lineage::restoredFrom).orElse(null);
    }
    return all.stream().filter(taken -> uids.contains(taken.podUid())).toList();
  }

  /** The checkpoint from which its pod had been restored. */
  private static @Nullable String restoredFrom(Taken taken) {
    JsonNode template = JSON.valueToTree(taken.status().getPodTemplate());
    JsonNode label = template.path("metadata").path("labels").path(Api.CHECKPOINT_LABEL);
    return label.isTextual() ? label.asText() : null;
  }
}
