package dev.stasis.operator.holder;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** How the controller of a pod stands, which would make the pod in its place. */
public sealed interface Standing {

  /** It is gone; one of its name is another. */
  record Gone() implements Standing {}

  /**
   * It is there, or may not be looked at.
   *
   * @param makesNone why it makes no pod as it is now, and what can be done; empty: it will, or
   *     nobody knows
   */
  record Lives(Optional<String> makesNone) implements Standing {}

  /** What it says of itself. */
  static Lives of(GenericKubernetesResource controller) {
    return new Lives(
        ended(controller)
            .map(how -> how + ": " + DELETE)
            .or(() -> suspended(controller))
            .or(() -> scaledToNothing(controller)));
  }

  /** What helps where it will make none again: without a controller the pod comes back alone. */
  String DELETE = "once it is deleted the workload comes back as a pod of its own";

  private static Optional<String> ended(GenericKubernetesResource controller) {
    Object conditions = controller.get("status", "conditions");
    return (conditions instanceof List<?> list ? list : List.of())
        .stream()
            .filter(Map.class::isInstance)
            .map(condition -> (Map<?, ?>) condition)
            .filter(condition -> "True".equals(condition.get("status")))
            .flatMap(condition -> ended(controller.getKind(), condition).stream())
            .findFirst();
  }

  private static Optional<String> ended(String kind, Map<?, ?> condition) {
    if (!kind.equals("Job")) {
      return Optional.empty();
    }
    return switch (Objects.toString(condition.get("type"))) {
      case "Failed", "FailureTarget" ->
          Optional.of("has failed (%s)".formatted(condition.get("reason")));
      case "Complete", "SuccessCriteriaMet" -> Optional.of("is complete");
      default -> Optional.empty();
    };
  }

  private static Optional<String> suspended(GenericKubernetesResource controller) {
    return Boolean.TRUE.equals(controller.get("spec", "suspend"))
        ? Optional.of("is suspended: set its spec.suspend to false")
        : Optional.empty();
  }

  /** A Deployment does that to the ReplicaSets that it has replaced. */
  private static Optional<String> scaledToNothing(GenericKubernetesResource controller) {
    Object wanted =
        Objects.requireNonNullElse(
            controller.get("spec", "replicas"),
            Objects.requireNonNullElse(controller.get("spec", "parallelism"), 1));
    return Integer.valueOf(0).equals(wanted)
        ? Optional.of("is scaled to 0: scale it up, or " + DELETE)
        : Optional.empty();
  }
}
