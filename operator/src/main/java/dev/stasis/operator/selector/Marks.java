package dev.stasis.operator.selector;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Labels and annotations of an object, which may have none. */
public final class Marks {

  private Marks() {}

  public static Map<String, String> labels(HasMetadata object) {
    return Objects.requireNonNullElse(object.getMetadata().getLabels(), Map.of());
  }

  public static Optional<String> label(HasMetadata object, String key) {
    return Optional.ofNullable(labels(object).get(key));
  }

  public static Map<String, String> annotations(HasMetadata object) {
    return Objects.requireNonNullElse(object.getMetadata().getAnnotations(), Map.of());
  }

  public static Optional<String> annotation(HasMetadata object, String key) {
    return Optional.ofNullable(annotations(object).get(key));
  }
}
