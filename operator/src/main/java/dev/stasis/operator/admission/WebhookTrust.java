package dev.stasis.operator.admission;

/**
 * What the API server needs to reach the operator.
 *
 * @param token secret part of the paths; empty for a Secret of a version without tokens
 * @param bundle certificates to trust, in PEM; empty if those of the API server's machine are used
 * @param injected whether another component writes the certificates into the webhook
 *     configurations; the operator then keeps those that it finds there
 */
record WebhookTrust(String token, String bundle, boolean injected) {}
