package dev.stasis.store;

import io.airlift.compress.MalformedInputException;
import io.airlift.compress.lz4.Lz4Compressor;
import io.airlift.compress.lz4.Lz4Decompressor;
import io.airlift.compress.zstd.ZstdCompressor;
import io.airlift.compress.zstd.ZstdDecompressor;
import java.util.Arrays;

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
  private final byte[] packed =
      new byte
          [Math.max(
              lz4.maxCompressedLength(ChunkFormat.CHUNK_BYTES),
              zstd.maxCompressedLength(ChunkFormat.CHUNK_BYTES))];

  ChunkCodec(Compression compression) {
    this.compression = compression;
  }

  /** A chunk as it is encrypted; the array is used again for the next chunk. */
  record Packed(byte codec, byte[] bytes, int length) {}

  Packed pack(byte[] plain, int length) {
    if (compression != Compression.NONE && worthIt(plain, length)) {
      int most = length - length / 10;
      int size = compressed(plain, length, most);
      if (size > 0) {
        return new Packed(compression == Compression.LZ4 ? LZ4 : ZSTD, packed, size);
      }
    }
    return new Packed(RAW, plain, length);
  }

  /**
   * Returns the plain chunk, whose length the index names: a chunk can never become larger.
   *
   * @throws StoreException.Damaged when the bytes do not give exactly that length
   */
  static byte[] unpack(byte codec, byte[] bytes, int length) throws StoreException.Damaged {
    if (codec == RAW) {
      return bytes.length == length ? bytes : refuse(length, bytes.length);
    }
    byte[] plain = new byte[length];
    try {
      int size =
          codec == LZ4
              ? new Lz4Decompressor().decompress(bytes, 0, bytes.length, plain, 0, length)
              : new ZstdDecompressor().decompress(bytes, 0, bytes.length, plain, 0, length);
      return size == length ? plain : refuse(length, size);
    } catch (MalformedInputException | IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new StoreException.Damaged("expected compressed bytes, got other bytes", e);
    }
  }

  private static byte[] refuse(int expected, int actual) throws StoreException.Damaged {
    throw new StoreException.Damaged(
        "expected %d bytes after decompression, got %d".formatted(expected, actual));
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

  /** Returns the compressed size, or 0 when it would be more than {@code most}. */
  private int compressed(byte[] plain, int length, int most) {
    int size =
        compression == Compression.LZ4
            ? lz4.compress(plain, 0, length, packed, 0, packed.length)
            : zstd.compress(plain, 0, length, packed, 0, packed.length);
    return size > most ? 0 : size;
  }

  /** Whether every byte is zero. */
  static boolean zeros(byte[] bytes, int offset, int length) {
    return length == 0
        || bytes[offset] == 0
            && Arrays.equals(
                bytes, offset, offset + length - 1, bytes, offset + 1, offset + length);
  }
}
