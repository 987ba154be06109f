package dev.stasis.operator.admission;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The keys in the Secret. A new key is first announced, so that every API server trusts it, and
 * served later. No certificate is therefore served before all API servers know it.
 *
 * @param current the key that is served
 * @param next the next key
 * @param previous the previous key, which another replica may still serve briefly
 */
record KeyRing(ServingKey current, Optional<ServingKey> next, Optional<Retired> previous) {

  /** The part that is kept of a key that is no longer served. */
  record Retired(String certificatePem, String token) {
    static Retired of(ServingKey key) {
      return new Retired(key.certificatePem(), key.token());
    }
  }

  /** A third of its lifetime: weeks in which an administrator can notice that the renewal fails. */
  private static final Duration RENEW = Duration.ofDays(30);

  /** Time between announcement and use; an API server reads it within seconds. */
  private static final Duration ANNOUNCED = Duration.ofMinutes(15);

  /** Returns the next state; the same if nothing is to be done. */
  static KeyRing after(Optional<KeyRing> found, Set<String> names, Instant now) {
    if (found.isEmpty()
        || !found.get().current.names().equals(names)
        || !now.isBefore(found.get().current.end())) {
      ServingKey key = ServingKey.generate(names, now);
      // The API server and the other replicas know this token; only the certificate must change.
      Optional<String> token = found.map(ring -> ring.current.token()).filter(it -> !it.isEmpty());
      return new KeyRing(
          token.map(key::withToken).orElse(key),
          Optional.empty(),
          found.map(ring -> Retired.of(ring.current)));
    }
    KeyRing ring = found.get();
    if (ring.next.isPresent() && !now.isBefore(ring.next.get().made().plus(ANNOUNCED))) {
      return new KeyRing(ring.next.get(), Optional.empty(), Optional.of(Retired.of(ring.current)));
    }
    // A Secret of a version without tokens: its replicas are gone by the time one is required.
    boolean due = ring.current.token().isEmpty() || !now.isBefore(ring.current.end().minus(RENEW));
    if (ring.next.isEmpty() && due) {
      return new KeyRing(ring.current, Optional.of(ServingKey.generate(names, now)), ring.previous);
    }
    return ring;
  }

  /** What the API server needs to reach the operator. */
  WebhookTrust trust() {
    return new WebhookTrust(current.token(), bundle(), false);
  }

  /** All certificates that may be served, in PEM. */
  String bundle() {
    return current.certificatePem()
        + next.map(ServingKey::certificatePem).orElse("")
        + previous.map(Retired::certificatePem).orElse("");
  }

  /**
   * The tokens that are currently valid. Paths without a token expire soon after the change; until
   * then an API server may not have read the new path.
   */
  Set<String> tokens(Instant now) {
    Set<String> tokens = new HashSet<>();
    tokens.add(current.token());
    next.map(ServingKey::token).ifPresent(tokens::add);
    Instant without = current.made().plus(ANNOUNCED.multipliedBy(2));
    previous
        .map(Retired::token)
        .filter(token -> !token.isEmpty() || now.isBefore(without))
        .ifPresent(tokens::add);
    return tokens;
  }

  /** Returns the data of a Secret. */
  Map<String, String> data() {
    Map<String, String> data = new LinkedHashMap<>();
    data.put("tls.crt", encoded(current.certificatePem()));
    data.put("tls.key", encoded(current.keyPem()));
    data.put("tls.token", encoded(current.token()));
    next.ifPresent(
        key -> {
          data.put("next.crt", encoded(key.certificatePem()));
          data.put("next.key", encoded(key.keyPem()));
          data.put("next.token", encoded(key.token()));
        });
    previous.ifPresent(
        key -> {
          data.put("previous.crt", encoded(key.certificatePem()));
          data.put("previous.token", encoded(key.token()));
        });
    return data;
  }

  /** Parses the data of a Secret; empty if it is not usable. */
  static Optional<KeyRing> read(@Nullable Map<String, String> data) {
    if (data == null) {
      return Optional.empty();
    }
    try {
      Optional<ServingKey> current = key(data, "tls");
      return current.map(
          key ->
              new KeyRing(
                  key,
                  key(data, "next"),
                  Optional.ofNullable(decoded(data, "previous.crt"))
                      .map(pem -> new Retired(pem, token(data, "previous")))));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static Optional<ServingKey> key(Map<String, String> data, String name) {
    String key = decoded(data, name + ".key");
    String certificate = decoded(data, name + ".crt");
    return key == null || certificate == null
        ? Optional.empty()
        : Optional.of(ServingKey.parse(key, certificate, token(data, name)));
  }

  private static String token(Map<String, String> data, String name) {
    return Objects.requireNonNullElse(decoded(data, name + ".token"), "");
  }

  private static @Nullable String decoded(Map<String, String> data, String key) {
    String value = data.get(key);
    return value == null
        ? null
        : new String(Base64.getDecoder().decode(value), StandardCharsets.US_ASCII);
  }

  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
  }
}
