package dev.stasis.operator.schedule;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What is made of the same words is the same: whoever starts anew finds what was made before.
 *
 * @param seed the words
 */
record Suffix(String seed) {

  private static final int LETTERS = 10;

  /** Ten letters for a name. */
  String text() {
    return HexFormat.of().formatHex(digest()).substring(0, LETTERS);
  }

  /** A number that is not negative. */
  BigInteger number() {
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
