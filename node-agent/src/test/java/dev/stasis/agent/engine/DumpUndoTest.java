package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The names that criu creates for open files are removed after a dump, if they can be. */
class DumpUndoTest {

  private static final String CONTAINER = "no-such-container";

  private final Sh sh = new Sh();

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private Path first;

  @SuppressWarnings("NullAway.Init")
  private Path second;

  @SuppressWarnings("NullAway.Init")
  private Process holder;

  @BeforeEach
  void startAProcessWithAFileThatHasOnlyNamesOfCriu() throws IOException {
    lab = new EngineLab(1, 64);
    Path file = lab.folder().resolve("file");
    first = lab.folder().resolve("link_remap.1");
    second = lab.folder().resolve("link_remap.2");
    holder =
        new ProcessBuilder(
                "sh",
                "-c",
                "exec 7>\"$0\"; ln \"$0\" \"$1\"; ln \"$0\" \"$2\"; rm \"$0\"; exec sleep 600",
                file.toString(),
                first.toString(),
                second.toString())
            .start();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> lab.parts().proc().stat(process()).orElseThrow().comm().equals("sleep"));
  }

  @AfterEach
  void stop() throws InterruptedException {
    holder.destroyForcibly().waitFor();
    lab.close();
  }

  @Test
  void theyAreRemovedAfterADump() throws Exception {
    beginADump();

    undo();

    assertThat(first).doesNotExist();
    assertThat(second).doesNotExist();
  }

  @Test
  void filesWithSuchNamesStayIfNothingWasDumped() throws Exception {
    undo();

    assertThat(first).exists();
    assertThat(second).exists();
  }

  /** The steps that follow in an undo continue the workload. */
  @Test
  void theUndoSucceedsIfOneOfThemCannotBeRemoved() throws Exception {
    beginADump();
    sh.must("mount", "--bind", first.toString(), first.toString());
    try {
      undo();
    } finally {
      sh.must("umount", first.toString());
    }

    assertThat(first).exists();
    assertThat(second).doesNotExist();
  }

  private void beginADump() throws IOException {
    Files.createDirectories(lab.parts().journal().folderOf(CONTAINER).resolve("criu"));
  }

  private void undo() throws Exception {
    Work work =
        new Work(
            Work.FORMAT,
            lab.parts().proc().bootId(),
            "id",
            "owner",
            Work.Kind.FREEZE,
            After.RESUME,
            false,
            Work.Phase.WORKING,
            Instant.EPOCH,
            CONTAINER,
            process(),
            List.of(),
            List.of(process()),
            List.of(),
            List.of(),
            null,
            null,
            null,
            List.of(),
            null,
            null,
            null,
            false);
    new DumpStep().undo(new FrozenWork(lab.parts(), work, StepListener.NONE));
  }

  private ProcessId process() {
    return lab.parts().proc().id((int) holder.pid()).orElseThrow();
  }
}
