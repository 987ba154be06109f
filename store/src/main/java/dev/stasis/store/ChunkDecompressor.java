package dev.stasis.store;

import io.airlift.compress.MalformedInputException;
import io.airlift.compress.lz4.Lz4Decompressor;
import io.airlift.compress.zstd.ZstdDecompressor;
import org.jspecify.annotations.Nullable;

/**
 * Decompresses chunks in Java, because others may have written what a store returns. For one
 * thread.
 */
final class ChunkDecompressor {
  private final Lz4Decompressor lz4 = new Lz4Decompressor();

  /** Has 150 KiB of tables; null until a chunk needs them. */
  private @Nullable ZstdDecompressor zstd;

  /**
   * Returns the array that begins with the plain chunk: the packed one where it is not compressed,
   * or else the other one. The index names the length, so a chunk can never become larger.
   *
   * @throws StoreException.Damaged when the bytes do not give exactly that length
   */
  byte[] unpack(byte codec, byte[] packed, int size, byte[] other, int length)
      throws StoreException.Damaged {
    int actual = size;
    try {
      if (codec != ChunkCodec.RAW) {
        actual =
            codec == ChunkCodec.LZ4
                ? lz4.decompress(packed, 0, size, other, 0, length)
                : unpackZstd(packed, size, other, length);
      }
    } catch (MalformedInputException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new StoreException.Damaged("expected compressed bytes, got other bytes", e);
    }
    if (actual != length) {
      throw new StoreException.Damaged(
          "expected %d bytes after decompression, got %d".formatted(length, actual));
    }
    return codec == ChunkCodec.RAW ? packed : other;
  }

  private int unpackZstd(byte[] packed, int size, byte[] other, int length) {
    ZstdDecompressor decompressor = zstd == null ? new ZstdDecompressor() : zstd;
    // One that fails is not used again: its tables are those of a damaged chunk.
    zstd = null;
    int actual = decompressor.decompress(packed, 0, size, other, 0, length);
    zstd = decompressor;
    return actual;
  }
}
