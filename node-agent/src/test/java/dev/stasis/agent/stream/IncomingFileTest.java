package dev.stasis.agent.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.testing.SmallTmpfs;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A file that arrives on a tmpfs, which is small. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class IncomingFileTest {

  private static final int MIB = 1 << 20;
  private static final int ROOM = 24;

  private final SmallTmpfs memory = SmallTmpfs.ofMib(ROOM);

  @AfterEach
  void unmount() {
    memory.close();
  }

  @Test
  void concurrentWritesAreComplete() throws Exception {
    byte[] data = random(16 * MIB + 1234);
    try (ReceiveSession.IncomingFile file =
        ReceiveSession.IncomingFile.open(memory.file("7.data"))) {
      ExecutorService streams = Executors.newFixedThreadPool(4);
      try {
        List<Future<?>> blocks = new ArrayList<>();
        for (int at = 0; at < data.length; at += MIB) {
          byte[] block = Arrays.copyOfRange(data, at, Math.min(data.length, at + MIB));
          long offset = at;
          blocks.add(
              streams.submit(
                  () -> {
                    write(file, offset, block);
                    return null;
                  }));
        }
        for (Future<?> block : blocks) {
          block.get();
        }
      } finally {
        streams.shutdownNow();
      }
    }
    assertThat(Files.readAllBytes(memory.file("7.data"))).isEqualTo(data);
  }

  /** The last block of a file may be too small for a mapping. */
  @Test
  void blocksInAnyOrderAreComplete() throws Exception {
    byte[] data = random(9 * MIB);
    try (ReceiveSession.IncomingFile file =
        ReceiveSession.IncomingFile.open(memory.file("7.data"))) {
      write(file, 8L * MIB, Arrays.copyOfRange(data, 8 * MIB, data.length));
      write(file, 4L * MIB, Arrays.copyOfRange(data, 4 * MIB, 8 * MIB));
      write(file, 0, Arrays.copyOf(data, 4 * MIB));
    }
    assertThat(Files.readAllBytes(memory.file("7.data"))).isEqualTo(data);
  }

  @Test
  void anUnwrittenRangeStaysAHole() throws Exception {
    Path path = memory.file("7.data");
    byte[] data = random(MIB);
    try (ReceiveSession.IncomingFile file = ReceiveSession.IncomingFile.open(path)) {
      write(file, 1000L * MIB, data);
      file.atLeast(2000L * MIB);
    }
    assertThat(Files.size(path)).isEqualTo(2000L * MIB);
    assertThat(memory.free()).isGreaterThan((ROOM - 2L) * MIB);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      byte[] found = new byte[MIB];
      file.seek(1000L * MIB);
      file.readFully(found);
      assertThat(found).isEqualTo(data);
    }
  }

  @Test
  void aFullTmpfsIsAnErrorAndNotTheEnd() throws Exception {
    try (ReceiveSession.IncomingFile file =
        ReceiveSession.IncomingFile.open(memory.file("7.data"))) {
      byte[] block = random(4 * MIB);

      assertThatThrownBy(
              () -> {
                for (int i = 0; i <= ROOM / 4; i++) {
                  write(file, (long) i * block.length, block);
                }
              })
          .isInstanceOf(IOException.class)
          .hasMessageContaining("No space left on device");
    }
  }

  @Test
  void aBlockAtAnyOffsetIsWritten() throws Exception {
    byte[] data = random(3 * MIB);
    try (ReceiveSession.IncomingFile file =
        ReceiveSession.IncomingFile.open(memory.file("7.data"))) {
      write(file, 0, Arrays.copyOf(data, 1001));
      write(file, 1001, Arrays.copyOfRange(data, 1001, data.length));
    }
    assertThat(Files.readAllBytes(memory.file("7.data"))).isEqualTo(data);
  }

  private static void write(ReceiveSession.IncomingFile file, long offset, byte[] block)
      throws IOException {
    byte[] piece = new byte[StreamProtocol.PIECE];
    try (ReceiveSession.IncomingFile.Place place = file.place(offset, block.length)) {
      for (int at = 0; at < block.length; at += piece.length) {
        int some = Math.min(piece.length, block.length - at);
        System.arraycopy(block, at, piece, 0, some);
        place.write(piece, some);
      }
    }
  }

  private static byte[] random(int size) {
    byte[] data = new byte[size];
    new Random(size).nextBytes(data);
    return data;
  }
}
