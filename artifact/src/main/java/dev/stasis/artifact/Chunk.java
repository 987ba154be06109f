package dev.stasis.artifact;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a region.
 *
 * @param number its place in the table, from 0
 * @param address where its first byte belongs in the process
 * @param length bytes, at most {@link #MAX_LENGTH}
 * @param offset where it lies in the data file; a chunk of zeros is a hole there
 * @param crc32c of its bytes; null for a chunk of zeros
 * @param sha256 of its bytes, as lower-case hex: behind {@code 16x} of sixteen lanes (see {@link
 *     LaneDigest}), else, in artifacts of format 1, one over all of them; null for a chunk of zeros
 *     or while it is not known
 */
public record Chunk(
    int number,
    long address,
    long length,
    long offset,
    @Nullable Integer crc32c,
    @Nullable String sha256) {

  /** The length of every chunk but a region's last. */
  public static final long MAX_LENGTH = 8L << 20;

  private static final Pattern DIGEST =
      Pattern.compile("(?:" + LaneDigest.PREFIX + ")?[0-9a-f]{64}");

  public Chunk {
    if (length <= 0 || length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "chunk %d: wanted a length of 1 to %d, found %d".formatted(number, MAX_LENGTH, length));
    }
    if (offset < 0 || offset > Long.MAX_VALUE - length || number < 0) {
      throw new IllegalArgumentException(
          "chunk %d: wanted an offset of at least 0, found %d".formatted(number, offset));
    }
    if (sha256 != null && (crc32c == null || !DIGEST.matcher(sha256).matches())) {
      throw new IllegalArgumentException(
          "chunk %d: wanted 64 hex digits, or 16x before them, of a chunk that is not zero, found %s"
              .formatted(number, sha256));
    }
  }

  /** Whether all its bytes are 0, so that none is stored. */
  public boolean zero() {
    return crc32c == null;
  }

  Chunk with(String digest) {
    return new Chunk(number, address, length, offset, crc32c, digest);
  }
}
