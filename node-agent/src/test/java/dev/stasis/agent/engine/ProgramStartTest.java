package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A target is judged by its program, not by the runtime that is about to execute it. */
class ProgramStartTest {

  private static final int PID = 42;

  @SuppressWarnings("NullAway.Init")
  @TempDir
  Path root;

  /** Advances by a second with each question. */
  private final AtomicLong seconds = new AtomicLong();

  @BeforeEach
  void process() throws IOException {
    Files.createDirectories(root.resolve("" + PID));
    command("runc", "init");
  }

  @Test
  void aRuntimeThatHasNotExecutedTheHolderYetIsWaitedFor() throws Exception {
    new ProgramStart(new ProcFs(root), () -> startsAt(4)).await(PID);

    assertThat(seconds).hasValue(4);
  }

  @Test
  void aRuntimeThatNeverExecutesItIsGivenUp() throws Exception {
    new ProgramStart(new ProcFs(root), () -> startsAt(1000)).await(PID);

    assertThat(seconds).hasValueBetween(10, 12);
  }

  @Test
  void aProgramThatRunsIsNotWaitedFor() throws Exception {
    command("python", "train.py");
    new ProgramStart(new ProcFs(root), () -> startsAt(1000)).await(PID);

    assertThat(seconds).hasValue(1);
  }

  private long startsAt(long second) {
    if (seconds.incrementAndGet() == second) {
      command("/.stasis/stasis-runtime", "init");
    }
    return seconds.get() * 1_000_000_000;
  }

  private void command(String... words) {
    try {
      Files.writeString(root.resolve(PID + "/cmdline"), String.join("\0", words) + "\0");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
