package dev.stasis.agent.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.testing.HungFiles;
import dev.stasis.agent.testing.HungFiles.Call;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Starts of programs while a store does not respond. */
@Tag("jvm")
class HungStartTest {

  /** A program starts in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final Path RUNTIME =
      Path.of(System.getProperty("stasis.runtime", "../runtime/target/stasis-runtime"))
          .toAbsolutePath();

  @TempDir private Path folder;

  @BeforeAll
  static void prepare() {
    ChildStart.prepare(RUNTIME);
  }

  @Test
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aProgramStartsWhileAFileThatWeHaveWrittenCannotBeClosed() throws Exception {
    try (HungFiles store = HungFiles.at(Call.FLUSH)) {
      FileChannel written = FileChannel.open(store.file(), StandardOpenOption.WRITE);
      try {
        Process child = new ChildStart().start(new ProcessBuilder("cat"));
        try (var in = child.getOutputStream();
            var out = child.inputReader()) {
          in.write("hello\n".getBytes(StandardCharsets.UTF_8));
          in.close();
          assertThat(out.readLine()).isEqualTo("hello");
        }
        assertThat(ended(child)).isZero();
        assertThat(store.holds()).isFalse();
      } finally {
        store.respond();
        written.close();
      }
    }
  }

  @Test
  void aProgramWhoseStartTheKernelHoldsUpForTooLongNeverRuns() throws Exception {
    Set<Long> before = children();
    try (HungFiles store = HungFiles.at(Call.OPEN)) {
      ProcessBuilder program = touch().redirectInput(store.file().toFile());

      assertThatThrownBy(() -> new ChildStart(Duration.ofSeconds(2)).start(program))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("expected it to run within 2 s");

      assertThat(store.holds()).as("its process waits in the kernel").isTrue();
      Process other = new ChildStart().start(new ProcessBuilder("true"));
      assertThat(ended(other)).as("another one does not wait for it").isZero();
      store.respond();
      await().atMost(LIMIT).until(() -> before.containsAll(children()));
      assertThat(ran()).doesNotExist();
    }
  }

  @Test
  void aProgramWhoseStartWasGivenUpBeforeItHadAProcessNeverRuns() throws Exception {
    Set<Long> before = children();
    long helper = helper();
    signal("STOP", helper);
    try {
      assertThatThrownBy(() -> new ChildStart(Duration.ofSeconds(1)).start(touch()))
          .isInstanceOf(IOException.class);
    } finally {
      signal("CONT", helper);
    }
    // Requests are taken in order.
    assertThat(ended(new ChildStart().start(new ProcessBuilder("true")))).isZero();
    await().atMost(LIMIT).until(() -> before.containsAll(children()));
    assertThat(ran()).doesNotExist();
  }

  @Test
  void aProgramThatWaitsForOurWordNeverRunsWithoutUs() throws Exception {
    Set<Long> before = children();
    SpawnConnection helper = new SpawnConnection(RUNTIME);
    try (ChildStreams streams = new ChildStreams(touch())) {
      SpawnConnection.Start start = helper.begin(touch(), streams);
      Process waiting = new SpawnedProcess(start.waiting().get(60, TimeUnit.SECONDS));
      assertThat(waiting.isAlive()).isTrue();

      helper.end();

      ended(waiting);
      await().atMost(LIMIT).until(() -> before.containsAll(children()));
      assertThat(ran()).doesNotExist();
    }
  }

  @Test
  void programsStartAgainAfterTheirHelperHasEnded() throws Exception {
    signal("KILL", helper());

    await()
        .atMost(LIMIT)
        .ignoreExceptions()
        .until(() -> ended(new ChildStart().start(new ProcessBuilder("true"))) == 0);
  }

  @Test
  void aProgramIsOurChildWithItsStreamsFolderAndEnvironmentAndNoOtherFile() throws Exception {
    Path errors = folder.resolve("errors");
    Files.writeString(errors, "before\n");
    ProcessBuilder program =
        new ProcessBuilder("sh", "-c", "ls /proc/$$/fd; echo $PPID $PWD \"$A\" >&2; exit 7")
            .directory(folder.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()));
    program.environment().put("A", "ä b");

    Process child = new ChildStart().start(program);

    assertThat(child.inputReader().lines()).containsExactlyInAnyOrder("0", "1", "2");
    assertThat(ended(child)).isEqualTo(7);
    assertThat(Files.readAllLines(errors))
        .containsExactly("before", ProcessHandle.current().pid() + " " + folder + " ä b");
  }

  @Test
  void aSignalThatEndsAProgramIsInItsExitCode() throws Exception {
    Process child = new ChildStart().start(new ProcessBuilder("sleep", "1000"));
    assertThat(child.waitFor(1, TimeUnit.MILLISECONDS)).isFalse();
    assertThat(child.toHandle().isAlive()).isTrue();

    child.destroyForcibly();

    assertThat(ended(child)).isEqualTo(128 + 9);
    assertThat(child.isAlive()).isFalse();
    assertThat(child.onExit().get(60, TimeUnit.SECONDS)).isSameAs(child);
  }

  /** It would also not run if it could not open its streams, which are therefore files. */
  private ProcessBuilder touch() {
    return new ProcessBuilder("touch", ran().toString())
        .redirectInput(Path.of("/dev/null").toFile())
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectErrorStream(true);
  }

  private Path ran() {
    return folder.resolve("ran");
  }

  private static int ended(Process child) throws InterruptedException {
    assertThat(child.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return child.exitValue();
  }

  private static Set<Long> children() {
    return ProcessHandle.current().children().map(ProcessHandle::pid).collect(Collectors.toSet());
  }

  private static long helper() {
    return ProcessHandle.current()
        .children()
        .filter(child -> new ProcFs().command((int) child.pid()).contains("spawn"))
        .findFirst()
        .orElseThrow()
        .pid();
  }

  private static void signal(String name, long pid) throws Exception {
    assertThat(ended(new ProcessBuilder("kill", "-" + name, "" + pid).start())).isZero();
  }
}
