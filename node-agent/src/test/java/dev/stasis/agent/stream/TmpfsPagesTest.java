package dev.stasis.agent.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** On a tmpfs of its own, which is small. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TmpfsPagesTest {

  private static final int MIB = 1 << 20;
  private static final int ROOM = 24;

  @TempDir Path folder;

  @BeforeEach
  void mount() throws Exception {
    run("mount", "-t", "tmpfs", "-o", "size=" + ROOM + "m", "none", folder.toString());
  }

  @AfterEach
  void unmount() throws Exception {
    run("umount", folder.toString());
  }

  @Test
  void whatManyWriteAtOnceIsAllThere() throws Exception {
    byte[] data = random(16 * MIB + 1234);
    try (IncomingFile file = IncomingFile.open(folder.resolve("7.data"))) {
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
    assertThat(Files.readAllBytes(folder.resolve("7.data"))).isEqualTo(data);
  }

  @Test
  void itIsReallyWrittenThroughAMapping() throws IOException {
    Path path = folder.resolve("7.data");
    try (RandomAccessFile made = new RandomAccessFile(path.toFile(), "rw")) {
      made.setLength(MIB);
    }
    byte[] data = random(5000);

    try (TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
        TmpfsPages.Window window = pages.window(4096, 8192).orElseThrow()) {
      assertThat(window.put(100, data, data.length)).isTrue();
    }

    byte[] wanted = new byte[MIB];
    System.arraycopy(data, 0, wanted, 4096 + 100, data.length);
    assertThat(Files.readAllBytes(path)).isEqualTo(wanted);
  }

  @Test
  void whatIsNotWrittenStaysAHole() throws Exception {
    Path path = folder.resolve("7.data");
    byte[] data = random(MIB);
    try (IncomingFile file = IncomingFile.open(path)) {
      write(file, 1000L * MIB, data);
      file.atLeast(2000L * MIB);
    }
    assertThat(Files.size(path)).isEqualTo(2000L * MIB);
    assertThat(Files.getFileStore(path).getUsableSpace()).isGreaterThan((ROOM - 2L) * MIB);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      byte[] found = new byte[MIB];
      file.seek(1000L * MIB);
      file.readFully(found);
      assertThat(found).isEqualTo(data);
    }
  }

  @Test
  void aFullTmpfsIsAnErrorAndNotTheEnd() throws Exception {
    try (IncomingFile file = IncomingFile.open(folder.resolve("7.data"))) {
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
  void aPartBeyondTheEndIsRefusedAndNotTouched() throws IOException {
    Path path = Files.createFile(folder.resolve("7.data"));
    try (TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
        TmpfsPages.Window window = pages.window(0, MIB).orElseThrow()) {
      assertThat(window.put(0, new byte[4096], 4096)).isFalse();
      assertThatThrownBy(() -> window.put(MIB - 1, new byte[2], 2))
          .hasMessage("part at 1048575 of 2 bytes: wanted within 1048576");
    }
    assertThat(path).isEmptyFile();
  }

  @Test
  void aBlockAtAnyOffsetIsWritten() throws Exception {
    byte[] data = random(3 * MIB);
    try (IncomingFile file = IncomingFile.open(folder.resolve("7.data"))) {
      write(file, 0, Arrays.copyOf(data, 1001));
      write(file, 1001, Arrays.copyOfRange(data, 1001, data.length));
    }
    assertThat(Files.readAllBytes(folder.resolve("7.data"))).isEqualTo(data);
  }

  @Test
  void afterTheEndNoFileOfAnotherIsMapped() throws IOException {
    Path path = folder.resolve("7.data");
    Files.write(path, new byte[MIB]);
    TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
    TmpfsPages.Window open = pages.window(0, 4096).orElseThrow();

    pages.close();
    pages.close();

    assertThat(pages.window(0, 4096)).isEmpty();
    assertThat(open.put(0, new byte[] {7}, 1)).isTrue();
    open.close();
    assertThat(Files.readAllBytes(path)[0]).isEqualTo((byte) 7);
  }

  @Test
  void whereCallsDoNotWaitForEachOtherNothingIsMapped() throws IOException {
    // The file system of processes: always there, and no tmpfs.
    assertThat(TmpfsPages.of(Path.of("/proc/self/status"))).isEmpty();
  }

  private static void write(IncomingFile file, long offset, byte[] block) throws IOException {
    byte[] piece = new byte[Wire.PIECE];
    try (IncomingFile.Place place = file.place(offset, block.length)) {
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

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
  }
}
