package dev.stasis.e2e.kube;

import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Phase;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A request that a scenario applied, and the waits for its status.
 *
 * @param <K> its kind
 * @param <S> its status
 * @param <P> its phases
 */
interface Request<K extends CustomResource<?, S>, S, P extends Phase> {

  Scenario scenario();

  String name();

  Class<K> kind();

  /** Returns the status of a request that no controller has seen yet. */
  S unseen();

  /** Returns the phase; null while there is none. */
  @Nullable P phase(S status);

  /** Returns whether the request has done its work, or has failed. */
  default boolean isOver(P phase) {
    return phase.isFinal();
  }

  /** Returns a manifest; {@code more} are further lines of its spec. */
  static String yaml(Class<?> kind, String name, String subject, String... more) {
    StringBuilder yaml =
        new StringBuilder(
            """
            apiVersion: stasis.dev/v1beta1
            kind: %s
            metadata:
              name: %s
            spec:
              %s
            """
                .formatted(kind.getSimpleName(), name, subject));
    for (String line : more) {
      yaml.append("  ").append(line).append('\n');
    }
    return yaml.toString();
  }

  default S status() {
    K found = scenario().find(kind(), name());
    return found == null ? unseen() : statusOf(found);
  }

  private S statusOf(K found) {
    @Nullable S status = found.getStatus();
    return status == null ? unseen() : status;
  }

  /** Waits for a phase; fails at once when another final phase was reached. */
  default S await(P wanted) {
    return awaitStatus(
        "is " + wanted,
        status -> {
          P phase = phase(status);
          if (phase != null && phase != wanted && phase.isFinal()) {
            throw new AssertionError(
                "%s: expected %s, got %s; %s; %s"
                    .formatted(
                        name(),
                        wanted,
                        phase,
                        Workload.autopsies(scenario()),
                        Serialization.asYaml(status)));
          }
          return phase == wanted;
        });
  }

  /** Waits until the request is over, whatever the result. */
  default S awaitEnd() {
    return awaitStatus(
        "is over",
        status -> {
          P phase = phase(status);
          return phase != null && isOver(phase);
        });
  }

  /** Waits for a status and returns it. */
  default S awaitStatus(String what, Predicate<S> wanted) {
    return awaitStatus(what, wanted, Scenario.PATIENCE);
  }

  /** The same, where the product itself takes minutes. */
  default S awaitStatus(String what, Predicate<S> wanted, Duration atMost) {
    return statusOf(
        scenario().await(kind(), name(), what, found -> wanted.test(statusOf(found)), atMost));
  }

  /** Returns the condition of that type, Unknown when there is none. */
  static Condition condition(@Nullable List<Condition> conditions, String type) {
    return (conditions == null ? List.<Condition>of() : conditions)
        .stream()
            .filter(condition -> condition.type().equals(type))
            .findFirst()
            .orElse(
                new Condition(type, ConditionValue.UNKNOWN, "Missing", "", Instant.EPOCH, null));
  }
}
