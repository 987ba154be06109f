package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.store.ChunkCodec.Packed;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ChunkCodecTest {

  private final Random random = new Random(1);

  @ParameterizedTest
  @EnumSource(Compression.class)
  void chunksThatAreCompressedOneAfterTheOtherAreReadAsTheyWere(Compression compression)
      throws Exception {
    ChunkDecompressor decompressor = new ChunkDecompressor();
    try (ChunkCodec codec = new ChunkCodec(compression, new BufferPool())) {
      for (int length : new int[] {1, 100, 70_000, ChunkFormat.CHUNK_BYTES}) {
        byte[] plain = new byte[ChunkFormat.CHUNK_BYTES];
        random.nextBytes(plain);
        Arrays.fill(plain, length / 2, length, (byte) 7);
        Packed packed = codec.pack(plain, length);

        byte[] other = new byte[ChunkFormat.CHUNK_BYTES];
        byte[] read =
            decompressor.unpack(packed.codec(), packed.bytes(), packed.length(), other, length);
        assertThat(Arrays.equals(read, 0, length, plain, 0, length)).isTrue();
      }
    }
  }

  /** Normally distributed numbers in bfloat16 stand for them: their exponents are alike. */
  @Test
  void weightsCompressWithZstdAndAreStoredRawWithLz4() {
    ByteBuffer weights =
        ByteBuffer.allocate(ChunkFormat.CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    while (weights.hasRemaining()) {
      weights.putShort(
          (short) (Float.floatToIntBits((float) (random.nextGaussian() * 0.02)) >>> Short.SIZE));
    }

    assertThat(packed(Compression.LZ4, weights.array()).codec()).isEqualTo(ChunkCodec.RAW);
    Packed packed = packed(Compression.ZSTD, weights.array());
    assertThat(packed.codec()).isEqualTo(ChunkCodec.ZSTD);
    assertThat(packed.length()).isLessThan(ChunkFormat.CHUNK_BYTES * 8 / 10);
  }

  @ParameterizedTest
  @EnumSource(Compression.class)
  void randomBytesAreStoredRaw(Compression compression) {
    byte[] plain = new byte[ChunkFormat.CHUNK_BYTES];
    random.nextBytes(plain);

    assertThat(packed(compression, plain))
        .isEqualTo(new Packed(ChunkCodec.RAW, plain, plain.length));
  }

  private static Packed packed(Compression compression, byte[] plain) {
    try (ChunkCodec codec = new ChunkCodec(compression, new BufferPool())) {
      return codec.pack(plain, plain.length);
    }
  }
}
