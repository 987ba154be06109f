package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log that a workload made long is never in memory as a whole. */
class LogTailTest {
  @TempDir Path temp = Path.of("/");

  private Path log(String text) throws Exception {
    return Files.writeString(temp.resolve("log"), text, StandardCharsets.ISO_8859_1);
  }

  @Test
  void theLastLinesAreReadOldestFirst() throws Exception {
    assertThat(new LogTail(log("a\nb\n\nc\nd")).last(3)).containsExactly("", "c", "d");
    assertThat(new LogTail(temp.resolve("none")).last(3)).isEmpty();
  }

  @Test
  void onlyTheEndOfALogIsRead() throws Exception {
    List<String> lines = new ArrayList<>();

    new LogTail(log("first\nsecond\nthird\n"), 9).forEach(lines::add);

    assertThat(lines).containsExactly("nd", "third");
  }

  @Test
  void aLineWithoutAnEndIsCut() throws Exception {
    assertThat(new LogTail(log("x".repeat(1 << 20) + "\nlast\n")).last(2))
        .containsExactly("x".repeat(8192), "last");
  }

  @Test
  void anyByteMayStandInALine() throws Exception {
    assertThat(new LogTail(log("a\377b\n")).last(1)).containsExactly("a\uFFFDb");
  }
}
