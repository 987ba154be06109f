package dev.stasis.operator.admission;

import java.util.Optional;

/** The source of the key that the endpoint serves. */
interface KeySource {

  /**
   * Serves the current key, and updates the webhook configurations.
   *
   * @throws RuntimeException if there is no usable key; the previous one is still served
   */
  void tend();

  /** Returns what the API server needs to reach the operator; empty before the first key. */
  Optional<WebhookTrust> trust();
}
