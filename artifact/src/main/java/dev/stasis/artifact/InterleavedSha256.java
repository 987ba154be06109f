package dev.stasis.artifact;

import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The digest of a chunk: the SHA-256 of sixteen SHA-256s, the n-th of them that of every sixteenth
 * block of 64 bytes from the n-th on. {@code stasis-runtime} computes the sixteen in parallel, at
 * nearly twice the speed of one: docs/node-engine.md. This class computes them in sequence, at the
 * speed of one.
 */
final class InterleavedSha256 {
  /** The prefix of the digest; without it the digits are the chunk's plain SHA-256. */
  static final String PREFIX = "16x";

  private static final int LANES = 16;
  private static final int BLOCK = 64;

  private final MessageDigest[] lanes;
  private final MessageDigest all;
  private final byte[] lane = new byte[1 << 14];
  private long length;

  InterleavedSha256(Supplier<MessageDigest> sha256) {
    this.lanes = Stream.generate(sha256).limit(LANES).toArray(MessageDigest[]::new);
    this.all = sha256.get();
  }

  void update(byte[] bytes, int offset, int count) {
    int at = offset;
    int end = offset + count;
    while (at < end && length % BLOCK != 0) {
      at += take(bytes, at, (int) Math.min(BLOCK - length % BLOCK, end - at));
    }
    int blocks = (end - at) / BLOCK;
    int first = (int) (length / BLOCK % LANES);
    for (int i = 0; i < Math.min(LANES, blocks); i++) {
      update(lanes[(first + i) % LANES], bytes, at + i * BLOCK, (blocks - i + LANES - 1) / LANES);
    }
    length += (long) blocks * BLOCK;
    at += blocks * BLOCK;
    take(bytes, at, end - at);
  }

  /** Adds bytes of a single lane: at most the rest of its block. */
  private int take(byte[] bytes, int at, int count) {
    lanes[(int) (length / BLOCK % LANES)].update(bytes, at, count);
    length += count;
    return count;
  }

  /** Collected first, because a call costs as much as the digest of a block. */
  private void update(MessageDigest digest, byte[] bytes, int from, int blocks) {
    int gathered = 0;
    for (int i = 0; i < blocks; i++) {
      System.arraycopy(bytes, from + i * BLOCK * LANES, lane, gathered, BLOCK);
      gathered += BLOCK;
      if (gathered == lane.length || i == blocks - 1) {
        digest.update(lane, 0, gathered);
        gathered = 0;
      }
    }
  }

  /** Returns the digest with its prefix. May be called once. */
  String text() {
    for (MessageDigest one : lanes) {
      all.update(one.digest());
    }
    return PREFIX + HexFormat.of().formatHex(all.digest());
  }
}
