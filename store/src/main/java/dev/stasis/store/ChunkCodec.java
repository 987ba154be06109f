package dev.stasis.store;

import io.airlift.compress.MalformedInputException;
import io.airlift.compress.lz4.Lz4Compressor;
import io.airlift.compress.lz4.Lz4Decompressor;
import io.airlift.compress.zstd.ZstdCompressor;
import io.airlift.compress.zstd.ZstdDecompressor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Compresses chunks where a sample shows that it is worth it: trained weights do not compress, and
 * trying costs more than storing them. For one thread.
 */
final class ChunkCodec {
  static final byte ZERO = 0;
  static final byte RAW = 1;
  static final byte LZ4 = 2;
  static final byte ZSTD = 3;

  /** Of a chunk; four samples of 16 KiB cost 3 % of compressing 2 MiB. */
  private static final int SAMPLE = 16 << 10;

  private static final int SAMPLES = 4;

  private final Compression compression;
  private final Lz4Compressor lz4 = new Lz4Compressor();
  private final ZstdCompressor zstd = new ZstdCompressor();
  private final byte[] sample = new byte[SAMPLE + SAMPLE / 2];

  /** Null until a chunk is worth it: trained weights never are. */
  private byte @Nullable [] packed;

  ChunkCodec(Compression compression) {
    this.compression = compression;
  }

  /** A chunk as it is encrypted; the array is used again for the next chunk. */
  record Packed(byte codec, byte[] bytes, int length) {}

  Packed pack(byte[] plain, int length) {
    if (compression != Compression.NONE && worthIt(plain, length)) {
      byte[] bytes = packed();
      int size =
          compression == Compression.LZ4
              ? lz4.compress(plain, 0, length, bytes, 0, bytes.length)
              : zstd.compress(plain, 0, length, bytes, 0, bytes.length);
      if (size <= length - length / 10) {
        return new Packed(compression == Compression.LZ4 ? LZ4 : ZSTD, bytes, size);
      }
    }
    return new Packed(RAW, plain, length);
  }

  /**
   * Returns the array that begins with the plain chunk: the packed one where it is not compressed,
   * or else the other one. The index names the length, so a chunk can never become larger.
   *
   * @throws StoreException.Damaged when the bytes do not give exactly that length
   */
  static byte[] unpack(byte codec, byte[] packed, int size, byte[] other, int length)
      throws StoreException.Damaged {
    int actual = size;
    try {
      if (codec != RAW) {
        actual =
            codec == LZ4
                ? new Lz4Decompressor().decompress(packed, 0, size, other, 0, length)
                : new ZstdDecompressor().decompress(packed, 0, size, other, 0, length);
      }
    } catch (MalformedInputException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new StoreException.Damaged("expected compressed bytes, got other bytes", e);
    }
    if (actual != length) {
      throw new StoreException.Damaged(
          "expected %d bytes after decompression, got %d".formatted(length, actual));
    }
    return codec == RAW ? packed : other;
  }

  private boolean worthIt(byte[] plain, int length) {
    if (length < SAMPLES * SAMPLE) {
      return true;
    }
    int size = 0;
    for (int i = 0; i < SAMPLES; i++) {
      int at = (int) ((long) (length - SAMPLE) * i / (SAMPLES - 1));
      size += lz4.compress(plain, at, SAMPLE, sample, 0, sample.length);
    }
    return size < SAMPLES * SAMPLE * 9 / 10;
  }

  private byte[] packed() {
    byte[] bytes = packed;
    if (bytes == null) {
      bytes =
          new byte
              [Math.max(
                  lz4.maxCompressedLength(ChunkFormat.CHUNK_BYTES),
                  zstd.maxCompressedLength(ChunkFormat.CHUNK_BYTES))];
      packed = bytes;
    }
    return bytes;
  }

  /** Whether every byte is zero. */
  static boolean zeros(byte[] bytes, int offset, int length) {
    return length == 0
        || bytes[offset] == 0
            && Arrays.equals(
                bytes, offset, offset + length - 1, bytes, offset + 1, offset + length);
  }
}
