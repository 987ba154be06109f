package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which ends of an operator or agent fail the scenario in which they happen. */
class LocalProcessTest {

  /** A shell starts in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @TempDir Path folder = Path.of("/");

  /** The first start ends like that, the next one stays. */
  private LocalProcess endingOnce(String end) {
    String script =
        "[ -e \"$0\" ] && echo again && exec sleep 600; : >\"$0\"; echo last words; " + end;
    LocalProcess process =
        new LocalProcess(
            "agent",
            List.of("sh", "-c", script, folder.resolve("was-here").toString()),
            Map.of(),
            folder.resolve("log"));
    process.start();
    Awaitility.await("the next start").atMost(LIMIT).until(() -> process.log().endsWith("again\n"));
    return process;
  }

  @Test
  void aCrashIsReportedOnceWithItsReason() {
    try (LocalProcess process = endingOnce("kill -ABRT $$")) {
      assertThat(process.takeCrashes()).containsExactly("agent ended with 134: last words\n");
      assertThat(process.takeCrashes()).isEmpty();
    }
  }

  /** A first list may take longer on a loaded machine than it waits. */
  @Test
  void aStartThatWasGivenUpIsNoCrash() {
    try (LocalProcess process = endingOnce("exit 1")) {
      assertThat(process.takeCrashes()).isEmpty();
    }
  }

  @Test
  void anOrderedEndIsNoCrash() {
    try (LocalProcess process = endingOnce("exit 1")) {
      process.kill();
      process.start();
      process.end();
      assertThat(process.takeCrashes()).isEmpty();
    }
  }
}
