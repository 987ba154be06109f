package dev.stasis.agent.tmpfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.testing.SmallTmpfs;
import java.io.IOException;
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
    Path path = Files.createFile(memory.file("7.data"));
    byte[] data = random(5000);

    try (TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
        TmpfsPages.Window window = pages.window(4096, 4 * MIB).orElseThrow()) {
      assertThat(window.put(100, data, data.length)).isTrue();
      assertThat(window.put(3 * MIB, data, data.length)).isTrue();
    }

    byte[] wanted = new byte[4096 + 4 * MIB];
    System.arraycopy(data, 0, wanted, 4096 + 100, data.length);
    System.arraycopy(data, 0, wanted, 4096 + 3 * MIB, data.length);
    assertThat(Files.readAllBytes(path)).isEqualTo(wanted);
  }

  @Test
  void aPartBeyondTheWindowIsRefused() throws IOException {
    Path path = Files.createFile(memory.file("7.data"));
    try (TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
        TmpfsPages.Window window = pages.window(0, 2 * MIB).orElseThrow()) {
      assertThatThrownBy(() -> window.put(2 * MIB - 1, new byte[2], 2))
          .hasMessage("part at 2097151 of 2 bytes: expected within 2097152");
    }
    assertThat(path).hasSize(2 * MIB);
  }

  /** Without the system call that allocates pages, the first touch would end the agent. */
  @Test
  void aPartWithoutRoomIsRefusedAndNotTouched() throws IOException {
    Path path = Files.createFile(memory.file("7.data"));
    Files.write(memory.file("other"), new byte[(ROOM - 1) * MIB]);
    try (TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
        TmpfsPages.Window window = pages.window(0, 4 * MIB).orElseThrow()) {
      assertThat(window.put(0, new byte[4096], 4096)).isFalse();
    }
  }

  @Test
  void aSmallPartIsLeftToTheChannel() throws IOException {
    Path path = Files.createFile(memory.file("7.data"));
    try (TmpfsPages pages = TmpfsPages.of(path).orElseThrow()) {
      assertThat(pages.window(0, 2 * MIB - 1)).isEmpty();
    }
    assertThat(path).hasSize(2 * MIB - 1);
  }

  @Test
  void windowsOfOneSegmentAreIndependent() throws IOException {
    Path path = Files.createFile(memory.file("7.data"));
    TmpfsPages pages = TmpfsPages.of(path).orElseThrow();
    TmpfsPages.Window first = pages.window(0, 2 * MIB).orElseThrow();
    TmpfsPages.Window second = pages.window(4 * MIB, 2 * MIB).orElseThrow();

    first.close();
    pages.close();
    pages.close();

    assertThat(pages.window(0, 2 * MIB)).isEmpty();
    assertThat(second.put(0, new byte[] {7}, 1)).isTrue();
    second.close();
    assertThat(Files.readAllBytes(path)[4 * MIB]).isEqualTo((byte) 7);
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
