package dev.stasis.store;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The keys that wrap the data keys of a store's namespaces: those of a Secret, or that of a KMS.
 * The current one of a Secret wraps new data keys; the others are kept to read what they wrapped.
 */
public final class StoreKeys {
  static final int KEY_BYTES = 32;

  private final @Nullable String current;
  private final Map<String, byte[]> keys;
  private final @Nullable KeyService service;

  private StoreKeys(
      @Nullable String current, Map<String, byte[]> keys, @Nullable KeyService service) {
    this.current = current;
    this.keys = keys;
    this.service = service;
  }

  /** No keys: data keys lie in the store in clear, which detects damage and hides nothing. */
  public static StoreKeys none() {
    return new StoreKeys(null, Map.of(), null);
  }

  /**
   * Keys by their names. A key is 32 bytes, or their base64 with or without a line end.
   *
   * @throws IllegalArgumentException when a key is neither, or the current one is missing
   */
  public static StoreKeys of(String current, Map<String, byte[]> keys) {
    Map<String, byte[]> decoded = new TreeMap<>();
    keys.forEach((name, bytes) -> decoded.put(name, decode(name, bytes)));
    if (!decoded.containsKey(current)) {
      throw new IllegalArgumentException(
          "current key: expected one of %s, got \"%s\"".formatted(decoded.keySet(), current));
    }
    return new StoreKeys(current, decoded, null);
  }

  /** The key of a KMS. The KMS is called when a data key is written or read, and not before. */
  public static StoreKeys of(KeyService service) {
    return new StoreKeys(null, Map.of(), new VerifiedKeyService(service));
  }

  /**
   * Wraps and unwraps a random key, so that a KMS that cannot do so is noticed before anything
   * depends on it. The keys of a Secret need no such test.
   */
  public void require(SecureRandom random) throws StoreException {
    if (service != null) {
      byte[] key = new byte[KEY_BYTES];
      random.nextBytes(key);
      var unused = service.wrap(key);
    }
  }

  KeyFiles files(SecureRandom random) {
    return service == null
        ? new SecretKeyFiles(this, random)
        : new ServiceKeyFiles(service, random);
  }

  /** Returns whether what is stored has to be encrypted. */
  public boolean encrypted() {
    return current != null || service != null;
  }

  /** Returns the name of the key that wraps new data keys; null without a Secret. */
  public @Nullable String current() {
    return current;
  }

  byte @Nullable [] key(String name) {
    return keys.get(name);
  }

  /** Returns the names of all keys, in order. */
  public TreeSet<String> names() {
    return new TreeSet<>(keys.keySet());
  }

  private static byte[] decode(String name, byte[] bytes) {
    if (bytes.length == KEY_BYTES) {
      return Arrays.copyOf(bytes, KEY_BYTES);
    }
    byte[] decoded;
    try {
      decoded = Base64.getDecoder().decode(new String(bytes, StandardCharsets.US_ASCII).strip());
    } catch (IllegalArgumentException e) {
      decoded = new byte[0];
    }
    if (decoded.length != KEY_BYTES) {
      throw new IllegalArgumentException(
          "key %s: expected %d bytes or their base64, got %d bytes"
              .formatted(name, KEY_BYTES, bytes.length));
    }
    return decoded;
  }

  /** The names of the keys, and never the keys. */
  @Override
  public String toString() {
    return "StoreKeys" + names();
  }
}
