package dev.stasis.operator.admission;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.operator.selector.Marks;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The token of the paths where the operator has no Secret: an annotation of the validating webhook
 * configuration. Users who can read the annotation can read the paths beside it. All replicas use
 * the same token, also while they serve different keys.
 */
final class PathToken {

  static final String ANNOTATION = Api.GROUP + "/webhook-token";

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final Pattern TOKEN = Pattern.compile("[0-9a-f]{64}");

  /** One of the replicas that start at the same time writes it; the others read it. */
  private static final int ROUNDS = 5;

  private final KubernetesClient client;
  private final String configuration;
  private @Nullable String known;
  private @Nullable String before;

  PathToken(KubernetesClient client, String configuration) {
    this.client = client;
    this.configuration = configuration;
  }

  /** Returns the token; creates it if there is none, and restores one that was removed. */
  synchronized String current() {
    Resource<ValidatingWebhookConfiguration> handle =
        client
            .admissionRegistration()
            .v1()
            .validatingWebhookConfigurations()
            .withName(configuration);
    for (int round = 0; round < ROUNDS; round++) {
      ValidatingWebhookConfiguration found = handle.get();
      if (found == null) {
        throw new IllegalStateException(
            "ValidatingWebhookConfiguration %s: expected one, got none".formatted(configuration));
      }
      Optional<String> written = written(found);
      String token =
          written.orElseGet(() -> Objects.requireNonNullElseGet(known, ServingKey::randomToken));
      if (written.isPresent() || isWritten(handle, found, token)) {
        if (!token.equals(known)) {
          before = known;
          known = token;
        }
        return token;
      }
    }
    throw new IllegalStateException(
        "Conflict persisted after %d attempts to annotate ValidatingWebhookConfiguration %s"
            .formatted(ROUNDS, configuration));
  }

  /** The current token, and the previous one, which an API server may still use. */
  synchronized Set<String> accepted() {
    Set<String> accepted = new LinkedHashSet<>();
    Optional.ofNullable(known).ifPresent(accepted::add);
    Optional.ofNullable(before).ifPresent(accepted::add);
    return accepted;
  }

  private static Optional<String> written(ValidatingWebhookConfiguration found) {
    return Marks.annotation(found, ANNOTATION).filter(token -> TOKEN.matcher(token).matches());
  }

  /** Returns whether it was written; false if the configuration has changed. */
  private boolean isWritten(
      Resource<ValidatingWebhookConfiguration> handle,
      ValidatingWebhookConfiguration found,
      String token) {
    Map<String, Object> metadata =
        Map.of(
            "resourceVersion",
            found.getMetadata().getResourceVersion(),
            "annotations",
            Map.of(ANNOTATION, token));
    try {
      handle.patch(MERGE, client.getKubernetesSerialization().asJson(Map.of("metadata", metadata)));
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return false;
      }
      throw e;
    }
  }
}
