package dev.stasis.agent.criu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.PidFd;
import dev.stasis.agent.process.PidFds;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.process.Signal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CriuCheckTest {

  private static final int MOST_RUNS = 200;

  /** Of two kinds, which come one after the other. */
  private static final int STOPPED_CHILDREN = 10;

  private final ProcFs proc = new ProcFs();

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "stasis-6, true",
    "stasis-13, true",
    "stasis-6-plain, false",
    "v4.2.1, false",
    "'', false"
  })
  void whetherItIsMendedIsSeenByItsBuild(String build, boolean mended) throws Exception {
    Path criu = program("echo Version: 4.2.1" + (build.isEmpty() ? "" : "; echo GitID: " + build));

    assertThat(new CriuCheck().check(criu))
        .isEqualTo(new CriuCheck.Result.Good(new CriuCheck.Version(4, 2, 1), mended));
  }

  @Test
  void anOutdatedCriuIsUnusable() throws Exception {
    assertThat(new CriuCheck().check(program("echo Version: 3.17.1")))
        .isEqualTo(
            new CriuCheck.Result.Unusable("criu version: expected 4.1.1 or newer, got 3.17.1"));
  }

  @Test
  void aCriuThatFailsItsOwnCheckIsReportedWithItsLastLine() throws Exception {
    Path criu = program("[ $1 = check ] && echo no mounts && exit 1; echo Version: 4.2.1");

    assertThat(new CriuCheck().check(criu))
        .isEqualTo(
            new CriuCheck.Result.Unusable("criu check: expected \"Looks good\", got no mounts"));
  }

  /**
   * criu looks at the mappings of children that stop themselves. The child of a criu that the
   * kernel has killed (out of memory) would stay stopped for ever.
   */
  @Test
  void aCriuThatIsKilledLeavesNoStoppedChild() throws Exception {
    String criu = System.getProperty("stasis.criu", "../.tools/bin/criu");
    int found = 0;
    // A busy machine runs us less often than a child is stopped.
    for (int run = 0; run < MOST_RUNS && found < STOPPED_CHILDREN; run++) {
      Process process =
          new ProcessBuilder(criu, "check")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      Optional<ProcessId> stopped = Optional.empty();
      while (process.isAlive() && stopped.isEmpty()) {
        stopped = stoppedChild(process.pid());
      }
      process.destroyForcibly().waitFor();
      if (stopped.isPresent()) {
        found++;
        assertEnds(stopped.get());
      }
    }
    assertThat(found).as("stopped children of %d runs", MOST_RUNS).isPositive();
  }

  private Optional<ProcessId> stoppedChild(long pid) {
    try {
      String children = Files.readString(Path.of("/proc/%d/task/%d/children".formatted(pid, pid)));
      return children
          .lines()
          .flatMap(line -> Stream.of(line.trim().split(" ")))
          .filter(child -> !child.isEmpty())
          .flatMap(child -> proc.stat(Integer.parseInt(child)).stream())
          .filter(child -> child.state() == 'T' || child.state() == 't')
          .map(ProcessStat::id)
          .findFirst();
    } catch (IOException e) {
      return Optional.empty(); // It has ended.
    }
  }

  private void assertEnds(ProcessId child) {
    try {
      Awaitility.await("the end of the child")
          .atMost(Duration.ofSeconds(30))
          .until(() -> !proc.alive(child));
    } finally {
      try (PidFd left = new PidFds(proc).open(child).orElse(null)) {
        if (left != null) {
          left.send(Signal.KILL);
        }
      }
    }
  }

  private Path program(String line) throws IOException {
    Path program = folder.resolve("criu");
    Files.writeString(program, "#!/bin/sh\n" + line + "\nexit 0\n");
    return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }
}
