package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.engine.HookedStep.Hook;
import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A workload keeps every byte of its memory until it is ended on purpose. */
class KeptMemoryTest {

  private static final int MIB = 64;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 256);
    source =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(),
                "--mib",
                "" + MIB,
                "--interval-ms",
                "100",
                "--busy-writer",
                "--loader"));
    source.awaitSteps(3);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  @AfterEach
  void runsOn() {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  /** Without what was copied, of which nothing is read back. */
  @ParameterizedTest
  @EnumSource(StagePlace.class)
  void itResumesWithoutWhatWasCopied(StagePlace place) throws Exception {
    CheckpointOutcome outcome =
        EngineLab.checkpoint(
            new Checkpoint(
                lab.parts(), HookedStep.all(Checkpoint.steps(), losingTheStage("copied"))),
            Asked.of(lab, source).staged(place));

    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
              assertThat(failed.step()).isEqualTo("publish");
            });
  }

  @Test
  void aHeldWorkloadIsThawedWithoutItsArtifact() throws Exception {
    CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, source).after(After.EVICT));
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Held.class);
    delete(((CheckpointOutcome.Held) outcome).artifact().path());

    lab.thaw(source);
  }

  @Test
  void theImagesOfCriuHoldNothingThatTheMoverCopied() throws Exception {
    Path artifact = lab.published(Asked.of(lab, source)).artifact().path();

    assertThat(bytes(artifact.resolve("criu"), "pages-")).isBetween(1L, MIB * (1L << 20) / 2);
    assertThat(bytes(artifact.resolve("regions"), "")).isGreaterThan(MIB * (1L << 20));
  }

  /** The loader has no GPU, and large memory of its own. */
  @Test
  void largeMemoryOfEachProcessIsCopied() throws Exception {
    Path artifact = lab.published(Asked.of(lab, source)).artifact().path();

    assertThat(files(artifact.resolve("regions"), ""))
        .filteredOn(file -> file.toString().endsWith(".data"))
        .hasSize(2)
        .allMatch(file -> file.toFile().length() >= 5 << 20);
  }

  /** A store on a tmpfs takes as much memory as the process keeps. */
  @Test
  void memoryIsDroppedOnlyWhereTheHostHasNoRoomForBothCopies() throws Exception {
    Path store = Files.createDirectory(lab.memoryStage().resolve("store"));
    // Others on this machine take and give back memory meanwhile.
    try (ProcWithMemory memory = new ProcWithMemory()) {
      NodeParts parts = LabParts.proc(lab, memory.proc());
      memory.available(1L << 40);
      assertThat(path(parts, store)).isEqualTo("mover");

      memory.available(Room.needed((long) MIB << 20) + ((long) MIB << 19));
      assertThat(path(parts, store)).startsWith("mover, low memory (memory of the node: ");
    } finally {
      delete(store);
    }
  }

  private static String path(NodeParts parts, Path store) throws InterruptedException {
    CheckpointOutcome outcome = EngineLab.checkpoint(new Checkpoint(parts), inMemory(store));
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    return ((CheckpointOutcome.Published) outcome).figures().path();
  }

  private static Asked inMemory(Path store) {
    return Asked.of(lab, source).to(store).staged(StagePlace.DISK);
  }

  private static Hook losingTheStage(String after) {
    return (moment, step) -> {
      if (moment == Moment.AFTER && step.equals(after)) {
        files(lab.folder(), "").stream()
            .filter(file -> file.toString().endsWith(".data"))
            .filter(file -> file.toString().contains("/.staging-"))
            .forEach(KeptMemoryTest::delete);
        files(lab.memoryStage(), "regions-").forEach(KeptMemoryTest::delete);
      }
    };
  }

  private static long bytes(Path folder, String prefix) {
    return files(folder, prefix).stream().mapToLong(file -> file.toFile().length()).sum();
  }

  private static List<Path> files(Path folder, String prefix) {
    try (Stream<Path> all = Files.walk(folder)) {
      return new ArrayList<>(
          all.filter(Files::isRegularFile)
              .filter(file -> file.getFileName().toString().startsWith(prefix))
              .toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path path) {
    try (Stream<Path> all = Files.walk(path)) {
      for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
