package dev.stasis.operator.admission;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.util.Optional;

/** Settings of the webhooks: {@code stasis.webhook.*}, or {@code STASIS_WEBHOOK_*}. */
@ConfigMapping(prefix = "stasis.webhook")
public interface WebhookConfig {

  /** Whether the operator serves webhooks. */
  @WithDefault("true")
  boolean enabled();

  /** Port of the HTTPS endpoint; 0 for any free one. */
  @WithDefault("9443")
  int port();

  /** Name of the Service in the operator's namespace through which the API server connects. */
  @WithDefault("stasis-webhook")
  String service();

  /** URL to use instead of the Service: {@code https://HOST:PORT}. */
  Optional<String> url();

  /**
   * Folder with {@code tls.crt}, {@code tls.key} and {@code ca.crt}, which another component issues
   * and renews. Without it the operator creates its own key and certificate.
   */
  Optional<Path> certificates();

  /** Name of the Secret in the operator's namespace with the operator's own key and certificate. */
  @WithDefault("stasis-webhook")
  String secret();

  /** Name of the ValidatingWebhookConfiguration and of the MutatingWebhookConfiguration. */
  @WithDefault("stasis")
  String configuration();

  /** Name of the MutatingWebhookConfiguration of the webhooks that are always active. */
  default String preparation() {
    return configuration() + "-prepare";
  }
}
