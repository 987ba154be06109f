package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.airlift.compress.lz4.Lz4Compressor;
import io.airlift.compress.lz4.Lz4Decompressor;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another implementation decompresses what the encoder wrote. */
class Lz4EncoderTest {
  private final Lz4Encoder encoder = new Lz4Encoder();

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 12, 13, 14, 255, 270, 65_535, 70_000, ChunkFormat.CHUNK_BYTES})
  void everyLengthIsRestored(int length) {
    byte[] random = SampleFolders.random(new Random(length), length);
    byte[] same = new byte[length];
    Arrays.fill(same, (byte) 7);

    restored(random, 0, length);
    restored(same, 0, length);
  }

  @Test
  void mixturesOfLiteralsAndMatchesAreRestored() {
    Random random = new Random(1);
    for (int i = 0; i < 2_000; i++) {
      byte[] bytes = mixture(random, 1 + random.nextInt(i % 10 == 0 ? 200_000 : 2_000));
      int from = random.nextInt(bytes.length);
      restored(bytes, from, 1 + random.nextInt(bytes.length - from));
    }
  }

  /** A match can be at most 65,535 bytes back. */
  @ParameterizedTest
  @ValueSource(ints = {65_534, 65_535, 65_536, 65_537})
  void aRepetitionFarBackIsRestored(int distance) {
    byte[] bytes = new byte[distance + 64];
    byte[] unique = SampleFolders.random(new Random(1), 64);
    System.arraycopy(unique, 0, bytes, 0, 64);
    System.arraycopy(unique, 0, bytes, distance, 64);

    restored(bytes, 0, bytes.length);
  }

  @Test
  void aChunkTakesAtMostTwoPercentMoreThanByTheReferenceEncoder() {
    Lz4Compressor reference = new Lz4Compressor();
    byte[] bytes = mixture(new Random(1), ChunkFormat.CHUNK_BYTES);
    byte[] out = new byte[reference.maxCompressedLength(bytes.length)];

    int expected = reference.compress(bytes, 0, bytes.length, out, 0, out.length);

    assertThat(restored(bytes, 0, bytes.length)).isLessThan(expected + expected / 50);
  }

  private int restored(byte[] bytes, int from, int length) {
    byte[] out = new byte[Lz4Encoder.mostBytes(length)];
    byte[] restored = new byte[length];

    int size = encoder.compress(bytes, from, length, out);

    assertThat(new Lz4Decompressor().decompress(out, 0, size, restored, 0, length))
        .isEqualTo(length);
    assertThat(restored).isEqualTo(Arrays.copyOfRange(bytes, from, from + length));
    return size;
  }

  /** Random bytes, repetitions of earlier ones, and runs of one byte, each of up to 400. */
  private static byte[] mixture(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    for (int at = random.nextInt(400); at < length; at += 1 + random.nextInt(400)) {
      int count = Math.min(random.nextInt(400), length - at);
      switch (random.nextInt(3)) {
        case 0 -> System.arraycopy(bytes, random.nextInt(at + 1), bytes, at, count);
        case 1 -> Arrays.fill(bytes, at, at + count, (byte) random.nextInt(4));
        default -> {}
      }
    }
    return bytes;
  }
}
