package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The chart's webhook configurations: the operator's address for the API server, and the
 * certificates to trust.
 */
final class Configurations {

  private static final PatchContext MERGE = PatchContext.of(PatchType.STRATEGIC_MERGE);

  private final KubernetesClient client;
  private final WebhookConfig config;
  private final String namespace;

  Configurations(KubernetesClient client, WebhookConfig config, String namespace) {
    this.client = client;
    this.config = config;
    this.namespace = namespace;
  }

  /** How the API server reaches that hook. */
  WebhookClientConfig reach(String hook, WebhookTrust trust) {
    String path = HookPaths.path(trust.token(), hook);
    WebhookClientConfigBuilder reach = new WebhookClientConfigBuilder();
    if (!trust.bundle().isEmpty()) {
      reach.withCaBundle(
          Base64.getEncoder().encodeToString(trust.bundle().getBytes(StandardCharsets.US_ASCII)));
    }
    if (config.url().isPresent()) {
      return reach.withUrl(config.url().get() + path).build();
    }
    return reach
        .withNewService()
        .withNamespace(namespace)
        .withName(config.service())
        .withPath(path)
        .withPort(443)
        .endService()
        .build();
  }

  /** Updates every webhook that has other values. A missing configuration is skipped. */
  void trust(WebhookTrust trust) {
    var validating =
        client
            .admissionRegistration()
            .v1()
            .validatingWebhookConfigurations()
            .withName(config.configuration());
    var found = validating.get();
    if (found != null) {
      Map<String, WebhookClientConfig> known = new HashMap<>();
      for (ValidatingWebhook webhook : found.getWebhooks()) {
        known.put(webhook.getName(), webhook.getClientConfig());
      }
      patch(validating, known, trust);
    }
    for (String name : List.of(config.configuration(), config.preparation())) {
      var mutating =
          client.admissionRegistration().v1().mutatingWebhookConfigurations().withName(name);
      var other = mutating.get();
      if (other != null) {
        Map<String, WebhookClientConfig> known = new HashMap<>();
        for (MutatingWebhook webhook : other.getWebhooks()) {
          known.put(webhook.getName(), webhook.getClientConfig());
        }
        patch(mutating, known, trust);
      }
    }
  }

  private void patch(
      Resource<?> configuration, Map<String, WebhookClientConfig> known, WebhookTrust trust) {
    List<Map<String, Object>> changes = new ArrayList<>();
    known.forEach(
        (name, before) -> {
          WebhookClientConfig after = reach(name.substring(0, name.indexOf('.')), trust);
          boolean kept = trust.injected() && !isBlank(before.getCaBundle());
          if (kept) {
            after.setCaBundle(before.getCaBundle());
          }
          if (!after.equals(before)) {
            Map<String, @Nullable Object> fields = fields(after);
            if (kept) {
              // It may have been replaced since it was read.
              fields.remove("caBundle");
            }
            changes.add(Map.of("name", name, "clientConfig", fields));
          }
        });
    if (!changes.isEmpty()) {
      configuration.patch(
          MERGE, client.getKubernetesSerialization().asJson(Map.of("webhooks", changes)));
    }
  }

  private static boolean isBlank(@Nullable String value) {
    return value == null || value.isBlank();
  }

  /** The field that is not used is set to null, which removes it. */
  private static Map<String, @Nullable Object> fields(WebhookClientConfig reach) {
    Map<String, @Nullable Object> fields = new HashMap<>();
    fields.put("caBundle", reach.getCaBundle());
    fields.put("url", reach.getUrl());
    fields.put("service", reach.getService());
    return fields;
  }
}
