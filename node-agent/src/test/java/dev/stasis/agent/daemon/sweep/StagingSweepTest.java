package dev.stasis.agent.daemon.sweep;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.ArtifactStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StagingSweepTest {

  @TempDir private Path root;
  private final Set<Path> needed = new HashSet<>();
  private final StagingSweep sweep = new StagingSweep(needed::contains, Clock.systemUTC());
  private Path staging = Path.of("/");

  @BeforeEach
  void stageAndDie() throws IOException {
    Path namespace = Files.createDirectories(root.resolve("ml"));
    ArtifactStage stage = new ArtifactStore(namespace, Clock.systemUTC()).stage("a");
    staging = stage.folder();
    Files.writeString(stage.criu().resolve("pages-1.img"), "memory");
    owner("%1$s boot-before 1 1");
  }

  private void owner(String text) throws IOException {
    String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
    Files.writeString(
        staging.resolveSibling(staging.getFileName() + ".owner"), text.formatted(host) + "\n");
  }

  @Test
  void theStagingFolderOfADeadWriterIsRemoved() throws IOException {
    assertThat(sweep.sweep(root, true)).containsExactly(staging);
    assertThat(root.resolve("ml")).isEmptyDirectory();
  }

  @Test
  void aStagingFolderThatAJournalNamesIsKept() throws IOException {
    needed.add(staging);

    assertThat(sweep.sweep(root, true)).isEmpty();
    assertThat(staging.resolve("criu/pages-1.img")).exists();
  }

  /** An agent's host name is its pod's, which is another one after each update of the agent. */
  @Test
  void aWriterOfThisBootIsRecognizedUnderAnyHostName() throws IOException {
    String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim();
    owner("stasis-agent-before " + boot + " 1 1");

    assertThat(sweep.sweep(root, true)).containsExactly(staging);
  }

  @Test
  void aStagingFolderOfAnotherNodeIsKept() throws IOException {
    owner("another-node another-boot 1 1");

    assertThat(sweep.sweep(root, true)).isEmpty();
    assertThat(staging).isDirectory();
  }
}
