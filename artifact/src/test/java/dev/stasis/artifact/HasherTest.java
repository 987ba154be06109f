package dev.stasis.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A digest is of every byte, also where more is read than fits the buffer. */
class HasherTest {
  /** Three buffers and a bit, so that no read ends where the file does. */
  private static final int SIZE = 3 * Hasher.BUFFER + 17;

  @TempDir Path temp = Path.of("/");

  private static byte[] random() {
    byte[] bytes = new byte[SIZE];
    new Random(7).nextBytes(bytes);
    return bytes;
  }

  @Test
  void theDigestOfALargeFileCoversAllItsBytes() throws Exception {
    byte[] bytes = random();
    Path file = Files.write(temp.resolve("large"), bytes);

    try (FileChannel channel = FileChannel.open(file)) {
      assertThat(new Hasher(Progress.NONE, SIZE).plain(channel, 0, SIZE))
          .isEqualTo(HexFormat.of().parseHex(Hasher.sha256(bytes)));
    }
  }

  @Test
  void aLargeChunkIsDigestedAndCopiedToTheSameOffset() throws Exception {
    byte[] bytes = random();
    Path from = Files.write(temp.resolve("from"), bytes);
    Path to = temp.resolve("to");
    int offset = 4096;
    int length = SIZE - offset - 5;
    byte[] wanted = Arrays.copyOfRange(bytes, offset, offset + length);
    Chunk chunk = new Chunk(0, 0, length, offset, 0, Hasher.sha256(wanted));

    try (FileChannel reads = FileChannel.open(from);
        FileChannel writes =
            FileChannel.open(to, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      WriteBehind file = new WriteBehind(writes, 1 << 20);
      assertThat(new Hasher(Progress.NONE, length).chunk(chunk, reads, file).sha256())
          .isEqualTo(chunk.sha256());
    }

    byte[] copied = Files.readAllBytes(to);
    assertThat(copied).hasSize(offset + length);
    assertThat(Arrays.copyOfRange(copied, offset, offset + length)).isEqualTo(wanted);
  }
}
