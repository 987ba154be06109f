package dev.stasis.operator.admission;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The keys that the Secret holds. A new one is first announced, so that every API server trusts it,
 * and served later: at no moment is a certificate served that somebody does not know.
 *
 * @param current what is served
 * @param next what will be
 * @param previous certificate of the one before, which another replica may serve for a moment
 */
record KeyRing(ServingKey current, Optional<ServingKey> next, Optional<String> previous) {

  /** A third of its life: weeks for whoever has to see that it does not change. */
  private static final Duration RENEW = Duration.ofDays(30);

  /** From the announcement until it is served; an API server reads it within seconds. */
  private static final Duration ANNOUNCED = Duration.ofMinutes(15);

  /** What comes after what was found; the same when nothing is to be done. */
  static KeyRing after(Optional<KeyRing> found, Set<String> names, Instant now) {
    if (found.isEmpty()
        || !found.get().current.names().equals(names)
        || !now.isBefore(found.get().current.end())) {
      Optional<String> before = found.map(ring -> ring.current.certificatePem());
      return new KeyRing(ServingKey.generate(names, now), Optional.empty(), before);
    }
    KeyRing ring = found.get();
    if (ring.next.isPresent() && !now.isBefore(ring.next.get().made().plus(ANNOUNCED))) {
      return new KeyRing(
          ring.next.get(), Optional.empty(), Optional.of(ring.current.certificatePem()));
    }
    if (ring.next.isEmpty() && !now.isBefore(ring.current.end().minus(RENEW))) {
      return new KeyRing(ring.current, Optional.of(ServingKey.generate(names, now)), ring.previous);
    }
    return ring;
  }

  /** All certificates that may be served, in PEM. */
  String bundle() {
    return current.certificatePem()
        + next.map(ServingKey::certificatePem).orElse("")
        + previous.orElse("");
  }

  /** As data of a Secret. */
  Map<String, String> data() {
    Map<String, String> data = new LinkedHashMap<>();
    data.put("tls.crt", encoded(current.certificatePem()));
    data.put("tls.key", encoded(current.keyPem()));
    next.ifPresent(
        key -> {
          data.put("next.crt", encoded(key.certificatePem()));
          data.put("next.key", encoded(key.keyPem()));
        });
    previous.ifPresent(pem -> data.put("previous.crt", encoded(pem)));
    return data;
  }

  /** Reads the data of a Secret; empty: there is nothing of use in it. */
  static Optional<KeyRing> read(@Nullable Map<String, String> data) {
    if (data == null) {
      return Optional.empty();
    }
    try {
      Optional<ServingKey> current = key(data, "tls");
      return current.map(
          key ->
              new KeyRing(
                  key, key(data, "next"), Optional.ofNullable(decoded(data, "previous.crt"))));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static Optional<ServingKey> key(Map<String, String> data, String name) {
    String key = decoded(data, name + ".key");
    String certificate = decoded(data, name + ".crt");
    return key == null || certificate == null
        ? Optional.empty()
        : Optional.of(ServingKey.parse(key, certificate));
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
