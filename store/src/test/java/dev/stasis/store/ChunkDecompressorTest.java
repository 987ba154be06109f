package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.stasis.store.ChunkCodec.Packed;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ChunkDecompressorTest {
  private static final int LENGTH = 70_000;
  private static final int CHUNKS = 100;

  private final byte[] plain = new byte[LENGTH];
  private final byte[] other = new byte[LENGTH];
  private final ChunkDecompressor decompressor = new ChunkDecompressor();

  private byte[] packed() {
    Arrays.fill(plain, (byte) 7);
    try (ChunkCodec codec = new ChunkCodec(Compression.ZSTD, new BufferPool())) {
      Packed packed = codec.pack(plain, LENGTH);
      assertThat(packed.codec()).isEqualTo(ChunkCodec.ZSTD);
      return Arrays.copyOf(packed.bytes(), packed.length());
    }
  }

  private byte[] unpack(byte[] packed) throws StoreException {
    return decompressor.unpack(ChunkCodec.ZSTD, packed, packed.length, other, LENGTH);
  }

  /** Tables for each chunk, 150 KiB, would become old in the collections of a long verification. */
  @Test
  void allChunksOfAThreadAreDecompressedWithTheSameTables() throws StoreException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    byte[] packed = packed();
    assertThat(unpack(packed)).isEqualTo(plain);

    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < CHUNKS; i++) {
      var unused = unpack(packed);
    }
    assertThat((threads.getCurrentThreadAllocatedBytes() - before) / CHUNKS)
        .as("bytes allocated for each chunk")
        .isLessThan(64 << 10);
  }

  @Test
  void aChunkAfterADamagedOneIsReadAsItWas() throws StoreException {
    byte[] packed = packed();
    byte[] damaged = Arrays.copyOf(packed, packed.length / 2);

    assertThatThrownBy(() -> unpack(damaged)).isInstanceOf(StoreException.Damaged.class);

    assertThat(unpack(packed)).isEqualTo(plain);
  }
}
