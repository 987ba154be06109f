package dev.stasis.store;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * The name of a chunk: HMAC-SHA-256 of its plain content under a key of its namespace. Equal chunks
 * of a namespace have equal names; without the key a name says nothing about the content.
 */
record ChunkName(long a, long b, long c, long d) {
  static final int BYTES = 32;

  static ChunkName of(byte[] digest) {
    return read(ByteBuffer.wrap(digest));
  }

  static ChunkName read(ByteBuffer from) {
    return new ChunkName(from.getLong(), from.getLong(), from.getLong(), from.getLong());
  }

  void write(ByteBuffer to) {
    to.putLong(a).putLong(b).putLong(c).putLong(d);
  }

  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(a) + hex.toHexDigits(b) + hex.toHexDigits(c) + hex.toHexDigits(d);
  }
}
