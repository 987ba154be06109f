package dev.stasis.operator.request;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A hash for names of objects: equal seeds give equal names, so a restarted operator finds the
 * objects that it created before.
 *
 * @param seed the purpose of the object
 */
public record DerivedName(String seed) {

  private static final int LETTERS = 10;

  /** Returns ten letters for a name. */
  public String suffix() {
    return HexFormat.of().formatHex(digest()).substring(0, LETTERS);
  }

  /** Returns a number that is not negative. */
  public BigInteger number() {
    return new BigInteger(1, digest());
  }

  private byte[] digest() {
    try {
      return MessageDigest.getInstance("SHA-256").digest(seed.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is part of every Java platform", e);
    }
  }
}
