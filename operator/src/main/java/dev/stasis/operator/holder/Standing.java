package dev.stasis.operator.holder;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The state of a pod's controller, which would create a pod in its place. */
public sealed interface Standing {

  /** It is gone; an object with its name is a different one. */
  record Gone() implements Standing {}

  /**
   * It exists, or cannot be read.
   *
   * @param makesNone why it creates no pod in its current state, and what to do; empty if it will,
   *     or if that is unknown
   */
  record Lives(Optional<String> makesNone) implements Standing {}

  /** The controller's own status. */
  static Lives of(GenericKubernetesResource controller) {
    return new Lives(
        ended(controller)
            .map(how -> how + ": " + DELETE)
            .or(() -> suspended(controller))
            .or(() -> scaledToNothing(controller)));
  }

  /**
   * What helps if it will not create one: without a controller the pod is restored as a bare pod.
   */
  String DELETE = "delete it to restore the workload as a bare pod";

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

  /** A Deployment scales down the ReplicaSets that it has replaced. */
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
