package dev.stasis.store;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The data key of a namespace in a store. It encrypts nothing itself: each use has a key of its own
 * that is derived from it by HMAC-SHA-256.
 *
 * @param id its public name, which is made of it
 */
record NamespaceKey(String id, byte[] root) {
  private static final String HMAC = "HmacSHA256";
  private static final int ID_BYTES = 16;

  static NamespaceKey of(byte[] root) {
    byte[] digest = hmac(root, ChunkFormat.ascii("stasis store 1\nkey id"));
    return new NamespaceKey(HexFormat.of().formatHex(digest, 0, ID_BYTES), root);
  }

  /** Names chunks. */
  Naming naming() {
    return new Naming(derive("chunk name", ""));
  }

  /** Returns the key of everything that one writer seals. */
  Sealer sealer(String writer) {
    return new Sealer(derive("writer", writer));
  }

  private byte[] derive(String purpose, String context) {
    return hmac(
        root, ("stasis store 1\n" + purpose + "\n" + context).getBytes(StandardCharsets.UTF_8));
  }

  /** The key of names. */
  record Naming(byte[] key) {
    ChunkName name(byte[] plain, int length) {
      try {
        Mac mac = Mac.getInstance(HMAC);
        mac.init(new SecretKeySpec(key, HMAC));
        mac.update(plain, 0, length);
        return ChunkName.of(mac.doFinal());
      } catch (GeneralSecurityException e) {
        throw new AssertionError("HMAC-SHA-256 is part of every Java platform", e);
      }
    }
  }

  private static byte[] hmac(byte[] key, byte[] bytes) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(new SecretKeySpec(key, HMAC));
      return mac.doFinal(bytes);
    } catch (GeneralSecurityException e) {
      throw new AssertionError("HMAC-SHA-256 is part of every Java platform", e);
    }
  }

  /** Its name only. */
  @Override
  public String toString() {
    return "NamespaceKey[" + id + "]";
  }
}
