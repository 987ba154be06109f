package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("jvm")
class ChildStartTest {

  /** A shell starts in milliseconds; a busy machine is given time. */
  private static final long LIMIT_SECONDS = 120;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"HUP", "INT"})
  void aProgramInterruptedByATerminalSignalBeforeItsFirstLineIsRestarted(String signal)
      throws Exception {
    Process child =
        new ChildStart()
            .startAway(shell("echo >>starts; [ $(wc -l <starts) -gt 3 ] || " + kill(signal)));

    assertThat(child.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(child.exitValue()).isZero();
    assertThat(Files.readAllLines(folder.resolve("starts"))).hasSize(4);
  }

  @Test
  void aProgramThatHasLeftOurSessionIsOutOfReach() throws Exception {
    Process child = new ChildStart().startAway(shell("exec setsid sleep 1000"));
    try {
      assertThat(new ProcFs().stat((int) child.pid()).orElseThrow().session())
          .isEqualTo((int) child.pid());
    } finally {
      child.destroyForcibly().waitFor();
    }
  }

  @ParameterizedTest
  @CsvSource({"HUP, true", "INT, true", "TERM, false", "KILL, false"})
  void onlySignalsOfATerminalCauseARestart(String signal, boolean key) throws Exception {
    Process child = new ChildStart().start(shell(kill(signal)));

    assertThat(child.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(child.exitValue()).isGreaterThan(128);
    assertThat(ChildStart.endedByAKey(child.exitValue())).isEqualTo(key);
  }

  @Test
  void aProgramThatEndsByItselfIsStartedOnce() throws Exception {
    Process child = new ChildStart().startAway(shell("echo >>starts; exit 7"));

    assertThat(child.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(child.exitValue()).isEqualTo(7);
    assertThat(Files.readAllLines(folder.resolve("starts"))).hasSize(1);
  }

  @Test
  void aProgramThatIsNotThereIsSaidToBeMissing() {
    ChildStart start = new ChildStart();

    assertThatThrownBy(() -> start.startAway(new ProcessBuilder("/no/such/program")))
        .isInstanceOf(IOException.class);
  }

  private static String kill(String signal) {
    return "kill -" + signal + " $$";
  }

  /** Whoever runs the tests in the background may have signals ignored; that is inherited. */
  private ProcessBuilder shell(String script) {
    return new ProcessBuilder(List.of("env", "--default-signal=HUP,INT", "sh", "-c", script))
        .directory(folder.toFile())
        .redirectErrorStream(true);
  }
}
