package dev.stasis.operator.admission;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.util.Optional;

/** Settings of the webhooks: {@code stasis.webhook.*}, or {@code STASIS_WEBHOOK_*}. */
@ConfigMapping(prefix = "stasis.webhook")
public interface WebhookConfig {

  /** Whether the operator answers the API server's questions at all. */
  @WithDefault("true")
  boolean enabled();

  /** Port of the HTTPS endpoint; 0 for any free one. */
  @WithDefault("9443")
  int port();

  /** Service by which the API server reaches it, in the operator's namespace. */
  @WithDefault("stasis-webhook")
  String service();

  /** Where the API server reaches it in place of the service: {@code https://HOST:PORT}. */
  Optional<String> url();

  /** Secret in the operator's namespace that holds key and certificate. */
  @WithDefault("stasis-webhook")
  String secret();

  /** Name of the ValidatingWebhookConfiguration and of the MutatingWebhookConfiguration. */
  @WithDefault("stasis")
  String configuration();
}
