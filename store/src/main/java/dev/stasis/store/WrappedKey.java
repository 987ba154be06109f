package dev.stasis.store;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A key that a KMS has wrapped, within the limits of Kubernetes' KMS v2 API. Service and store may
 * be hostile, so what exceeds the limits does not exist as a value.
 *
 * @param keyId the ID of the key of the KMS
 * @param ciphertext hexadecimal digits
 * @param annotations what the KMS needs beside the ciphertext; values in hexadecimal digits
 */
public record WrappedKey(String keyId, String ciphertext, SortedMap<String, String> annotations) {
  private static final int MOST_BYTES = 1 << 10;
  private static final int MOST_ANNOTATION_BYTES = 32 << 10;

  private static final Pattern HEX = Pattern.compile("[0-9a-f]*");

  /** A name in DNS with at least two labels. */
  private static final Pattern DOMAIN =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+");

  private static final int MOST_DOMAIN = 253;

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException when one is exceeded
   */
  public WrappedKey {
    requireKeyId(keyId);
    require("ciphertext", 1, MOST_BYTES, hexBytes("ciphertext", ciphertext));
    annotations = Collections.unmodifiableSortedMap(new TreeMap<>(annotations));
    int bytes = 0;
    for (Map.Entry<String, String> annotation : annotations.entrySet()) {
      String name = annotation.getKey();
      if (name.length() > MOST_DOMAIN || !DOMAIN.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "annotations: expected domain names as keys, got another key");
      }
      bytes += name.length() + hexBytes("annotations", annotation.getValue());
    }
    require("annotations", 0, MOST_ANNOTATION_BYTES - 1, bytes);
  }

  /**
   * Returns a valid ID of a key.
   *
   * @throws IllegalArgumentException when it is empty or too long
   */
  public static String requireKeyId(String keyId) {
    require("key_id", 1, MOST_BYTES, keyId.getBytes(StandardCharsets.UTF_8).length);
    return keyId;
  }

  private static int hexBytes(String property, String hex) {
    if (Objects.requireNonNull(hex).length() % 2 != 0 || !HEX.matcher(hex).matches()) {
      throw new IllegalArgumentException(property + ": expected hexadecimal digits");
    }
    return hex.length() / 2;
  }

  private static void require(String property, int least, int most, int bytes) {
    if (bytes < least || bytes > most) {
      throw new IllegalArgumentException(
          "%s: expected %d to %d bytes, got %d".formatted(property, least, most, bytes));
    }
  }
}
