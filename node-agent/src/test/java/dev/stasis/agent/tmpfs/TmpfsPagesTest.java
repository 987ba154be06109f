package dev.stasis.agent.tmpfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.testing.SmallTmpfs;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TmpfsPagesTest {

  private static final int MIB = 1 << 20;
  private static final int ROOM = 24;

  private final SmallTmpfs memory = SmallTmpfs.ofMib(ROOM);

  @AfterEach
  void unmount() {
    memory.close();
  }

  @Test
  void itIsReallyWrittenThroughAMapping() throws IOException {
    Path path = memory.file("7.data");
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
  void aPartBeyondTheEndIsRefusedAndNotTouched() throws IOException {
    Path path = Files.createFile(memory.file("7.data"));
    try (TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
        TmpfsPages.Window window = pages.window(0, MIB).orElseThrow()) {
      assertThat(window.put(0, new byte[4096], 4096)).isFalse();
      assertThatThrownBy(() -> window.put(MIB - 1, new byte[2], 2))
          .hasMessage("part at 1048575 of 2 bytes: expected within 1048576");
    }
    assertThat(path).isEmptyFile();
  }

  @Test
  void afterTheEndNoFileOfAnotherIsMapped() throws IOException {
    Path path = memory.file("7.data");
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

  private static byte[] random(int size) {
    byte[] data = new byte[size];
    new Random(size).nextBytes(data);
    return data;
  }
}
