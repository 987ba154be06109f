package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.mover.JournalReader;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the work in hand needs of a store. */
class ArtifactUseTest {

  private static final String BOOT = "this-boot";

  @TempDir private Path folder;

  private WorkJournal journal() {
    return new WorkJournal(folder.resolve("state"));
  }

  private ArtifactUse use() {
    return new ArtifactUse(journal(), new JournalReader(BOOT), BOOT);
  }

  private static Work work(
      Work.Phase phase,
      String boot,
      List<String> regions,
      @Nullable String staging,
      @Nullable String artifact) {
    return new Work(
        Work.FORMAT,
        boot,
        "operation",
        "GpuCheckpoint ml/train",
        Work.Kind.FREEZE,
        After.EVICT,
        false,
        phase,
        Instant.EPOCH,
        "good",
        new ProcessId(42, 4),
        List.of(),
        List.of(),
        List.of(),
        regions,
        null,
        staging,
        artifact,
        List.of(),
        null,
        null,
        null,
        false);
  }

  @ParameterizedTest
  @EnumSource(Work.Phase.class)
  void anArtifactIsNeededWhileItsWorkloadIsFrozenIntoIt(Work.Phase phase) throws IOException {
    Path artifact = Files.createDirectories(folder.resolve("store/ml/a"));
    Path staging = folder.resolve("store/ml/.staging-a-1");
    journal().write(work(phase, BOOT, List.of(), staging.toString(), artifact.toString()));

    boolean needed =
        switch (phase) {
          case WORKING, HELD, UNKNOWN -> true;
          case PUBLISHING, SUSPENDED, ENDING -> false;
        };
    assertThat(use().of(artifact).isPresent()).isEqualTo(needed);
    // What is staged may be published later.
    assertThat(use().of(staging).isPresent()).isEqualTo(phase != Work.Phase.ENDING);
    assertThat(use().of(folder.resolve("store/ml/other")).isPresent())
        .isEqualTo(phase == Work.Phase.UNKNOWN);
  }

  @Test
  void theFolderThatHoldsDroppedRegionsIsNeededInAnyPhase() throws IOException {
    Path artifact = Files.createDirectories(folder.resolve("store/ml/a"));
    Path regions = folder.resolve("regions.journal");
    Files.writeString(
        regions,
        """
        stasis-regions 1 boot=%s pid=42 start=4 stage=%s/regions/1.data
        R 0 1000 4096
        C 0 1000 4096 0 zero
        D 0 1
        """
            .formatted(BOOT, artifact));
    journal().write(work(Work.Phase.SUSPENDED, BOOT, List.of(regions.toString()), null, null));
    assertThat(use().of(artifact)).isPresent();

    Files.writeString(regions, Files.readString(regions) + "F 0\n");
    assertThat(use().of(artifact)).isEmpty();
  }

  @Test
  void theWorkOfAnotherBootNeedsNothing() throws IOException {
    Path artifact = Files.createDirectories(folder.resolve("store/ml/a"));
    journal().write(work(Work.Phase.HELD, "boot-before", List.of(), null, artifact.toString()));

    assertThat(use().of(artifact)).isEmpty();
  }

  /** The name by which an order or a sweep knows it need not be the one that was written down. */
  @Test
  void anArtifactIsKnownByWhereItLies() throws IOException {
    Path artifact = Files.createDirectories(folder.resolve("store/ml/a"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("store"));
    journal().write(work(Work.Phase.HELD, BOOT, List.of(), null, artifact.toString()));

    assertThat(use().of(link.resolve("ml/a"))).isPresent();
  }
}
