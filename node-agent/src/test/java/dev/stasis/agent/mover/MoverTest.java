package dev.stasis.agent.mover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How runs end, with scripts that stand in for the mover. */
class MoverTest {

  /** A shell ends in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"HUP", "INT"})
  void aMoverInterruptedByATerminalSignalBeforeItStartsIsRestarted(String signal) throws Exception {
    assertThat(run("[ $(wc -l <starts) -gt 2 ] || " + kill(signal) + "; echo done 5"))
        .isEqualTo(new MoveOutcome.Moved(5));
    assertThat(starts()).hasSize(3);
  }

  @Test
  void aKilledMoverIsNotRestarted() throws Exception {
    assertThat(run(kill("KILL")))
        .isInstanceOfSatisfying(
            MoveOutcome.Failed.class,
            failed -> assertThat(failed.cause()).isEqualTo(MoveOutcome.Cause.KILLED));
    assertThat(starts()).hasSize(1);
  }

  /** An NFS client writes what it has when the mover ends. */
  @Test
  void aMoverThatHasCopiedEverythingIsGivenTimeToCloseItsFile() throws Exception {
    Duration silence = Duration.ofMillis(500);
    Move move =
        new Move.Out(
            new ProcessId(1, 0),
            folder.resolve("regions"),
            folder.resolve("stage"),
            folder.resolve("journal"),
            1,
            1,
            false,
            Move.Verify.CRC32C);

    assertThat(
            new Mover(program("echo done 1000000000; sleep 2"), silence)
                .run(move, LIMIT, child -> {}, bytes -> {}))
        .isEqualTo(new MoveOutcome.Moved(1_000_000_000));
    assertThat(
            new Mover(program("echo progress 1000000000; sleep 2"), silence)
                .run(move, LIMIT, child -> {}, bytes -> {}))
        .isInstanceOf(MoveOutcome.Failed.class);
  }

  /** Whoever runs the tests in the background may have signals ignored; that is inherited. */
  private static String kill(String signal) {
    return "exec env --default-signal=HUP,INT sh -c 'kill -" + signal + " $$'";
  }

  private List<String> starts() throws IOException {
    return Files.readAllLines(folder.resolve("starts"));
  }

  private MoveOutcome run(String script) throws IOException, InterruptedException {
    Move move =
        new Move.In(
            new ProcessId(1, 0), folder.resolve("journal"), 1, Move.Verify.CRC32C, false, null);
    return new Mover(program(script)).run(move, LIMIT, child -> {}, bytes -> {});
  }

  private Path program(String script) throws IOException {
    Path program = folder.resolve("runtime");
    Files.writeString(program, "#!/bin/sh\ncd " + folder + "\necho >>starts\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return program;
  }
}
