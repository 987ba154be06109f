package dev.stasis.artifact;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a region.
 *
 * @param number its index in the table, from 0
 * @param address address of its first byte in the process
 * @param length length in bytes, at most {@link #MAX_LENGTH}
 * @param offset its offset in the data file; a chunk of zeros is a hole there
 * @param crc32c CRC32C of its bytes; null for a chunk of zeros
 * @param sha256 digest of its bytes in lower-case hex: after {@code 16x} the one of sixteen lanes
 *     (see {@link InterleavedSha256}), else, in artifacts of format 1, a plain SHA-256; null for a
 *     chunk of zeros or while it is unknown
 */
public record Chunk(
    int number,
    long address,
    long length,
    long offset,
    @Nullable Integer crc32c,
    @Nullable String sha256) {

  /** The length of every chunk except the last of a region. */
  public static final long MAX_LENGTH = 8L << 20;

  static final String ZERO = "zero";

  private static final String HEX_DIGEST = "(?:" + InterleavedSha256.PREFIX + ")?[0-9a-f]{64}";
  private static final Pattern DIGEST = Pattern.compile(HEX_DIGEST);
  private static final Pattern LINE =
      Pattern.compile(
          "C ([0-9]{1,9}) ([0-9a-f]{1,16}) ([0-9]{1,18}) ([0-9]{1,18}) ([0-9a-f]{1,8}|"
              + ZERO
              + ")(?: ("
              + HEX_DIGEST
              + "))?");

  public Chunk {
    if (length <= 0 || length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "chunk %d: expected a length of 1 to %d, got %d".formatted(number, MAX_LENGTH, length));
    }
    if (offset < 0 || offset > Long.MAX_VALUE - length || number < 0) {
      throw new IllegalArgumentException(
          "chunk %d: expected an offset of at least 0, got %d".formatted(number, offset));
    }
    if (sha256 != null && (crc32c == null || !DIGEST.matcher(sha256).matches())) {
      throw new IllegalArgumentException(
          "chunk %d: expected 64 hex digits with the optional prefix 16x, and a checksum, got %s"
              .formatted(number, sha256));
    }
  }

  /** Returns whether all its bytes are 0, so that it is not stored. */
  public boolean zero() {
    return crc32c == null;
  }

  Chunk with(String digest) {
    return new Chunk(number, address, length, offset, crc32c, digest);
  }

  /**
   * Parses a line {@code C NUMBER ADDRESS LENGTH OFFSET CRC [DIGEST]} of a chunk table or a region
   * journal.
   *
   * @throws IllegalArgumentException if the line is invalid
   */
  public static Chunk parse(String line) {
    Matcher words = LINE.matcher(line);
    if (!words.matches()) {
      throw new IllegalArgumentException(
          "expected C CHUNK ADDRESS LENGTH OFFSET CRC, got \"" + line + "\"");
    }
    String crc = words.group(5);
    return new Chunk(
        Integer.parseInt(words.group(1)),
        Long.parseUnsignedLong(words.group(2), 16),
        Long.parseLong(words.group(3)),
        Long.parseLong(words.group(4)),
        crc.equals(ZERO) ? null : Integer.parseUnsignedInt(crc, 16),
        words.group(6));
  }
}
