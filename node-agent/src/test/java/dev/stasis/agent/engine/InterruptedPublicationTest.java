package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An agent dies while it publishes an artifact, and its successor publishes it or none at all. */
class InterruptedPublicationTest {

  private final EngineLab lab = new EngineLab(2, 256);

  @AfterEach
  void close() {
    lab.close();
  }

  private ContainerSpec spec() {
    return ContainerSpec.counter(
        lab.gpus(), "--mib", "" + DirectLab.MIB, "--interval-ms", "100", "--fork", "1");
  }

  private static GpuContainer start(ContainerSpec spec) {
    GpuContainer container = GpuContainer.start(spec);
    container.awaitSteps(3);
    return container;
  }

  /** Starts a checkpoint whose agent is killed there; returns what it has recorded. */
  private Work interrupted(GpuContainer source, DataPathChoice path, String step)
      throws IOException, InterruptedException {
    ChildAgent.dying(lab, path.name(), source, "DURING", step);
    source.awaitSteps(2);
    return lab.engine().thaw().inHand().get(0);
  }

  private boolean complete(Work work) throws InterruptedException {
    return lab.engine().interruptedPublication().complete(work);
  }

  @ParameterizedTest
  @CsvSource({"MOVER, hash", "MOVER, publish", "LOW_MEMORY, publish", "CRIU, publish"})
  void aSuccessorPublishesTheArtifact(DataPathChoice path, String step) throws Exception {
    publishes(spec(), path, step);
  }

  /** The keeper outlives the agent, with its copy of the device memory. */
  @ParameterizedTest
  @ValueSource(strings = {"hash", "publish"})
  void aSuccessorPublishesTheArtifactOfTheDirectPath(String step) throws Exception {
    Path artifact =
        publishes(new DirectLab(lab).counter("--fork", "1"), DataPathChoice.MOVER, step);
    assertThat(new ArtifactReader(Progress.NONE).open(artifact, null))
        .isInstanceOfSatisfying(
            Opened.Verified.class,
            opened ->
                assertThat(opened.artifact().manifest().dataPath().kind())
                    .isEqualTo(Manifest.DataPath.Kind.DIRECT));
  }

  private Path publishes(ContainerSpec spec, DataPathChoice path, String step) throws Exception {
    List<String> before;
    Path artifact;
    try (GpuContainer source = start(spec)) {
      Work work = interrupted(source, path, step);
      assertThat(lab.artifacts()).isEmpty();
      assertThat(complete(work)).isTrue();
      // The keeper has dropped its copy. A successor of a killed agent finds the files.
      assertThat(Capture.stored(folder(work)).orElseThrow().hasDeviceMemory()).isTrue();
      artifact = Path.of(Objects.requireNonNull(work.artifact()));
      assertThat(lab.artifacts()).containsExactly(artifact);
      lab.thaw(source);
      lab.assertNothingLeft();
      source.awaitSteps(2);
      source.verify(DirectLab.MIB);
      before = source.lines();
    }
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(artifact, target)).isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(3);
      target.verify(DirectLab.MIB, before);
    }
    return artifact;
  }

  private static Path first(String folder, String suffix) throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(folder))) {
      return files.filter(file -> file.toString().endsWith(suffix)).findFirst().orElseThrow();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "staged memory that is missing, .stage, delete",
    "staged memory that has changed, .stage, change",
    "an image that is missing, inventory.img, delete",
    "an image that is shorter, inventory.img, truncate"
  })
  void anIncompleteOrChangedCaptureIsNotPublished(String what, String suffix, String how)
      throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "publish");
      String folder = suffix.equals(".stage") ? work.stage() : work.artifactStage();
      Path file = first(Objects.requireNonNull(folder), suffix);
      switch (how) {
        case "delete" -> Files.delete(file);
        case "truncate" -> Files.write(file, new byte[0]);
        default -> change(file);
      }
      assertThat(complete(work)).as(what).isFalse();
      assertThat(lab.artifacts()).isEmpty();
      lab.thaw(source);
      lab.assertNothingLeft();
    }
  }

  /** Every byte, so that it is none of a hole. */
  private static void change(Path file) {
    try {
      byte[] bytes = Files.readAllBytes(file);
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] ^= 1;
      }
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As it is left by an agent that dies while it removes the journal of the first operation. */
  @Test
  void theCaptureOfAnEarlierOperationIsNotThatOfALaterOne() throws Exception {
    try (GpuContainer source = start(spec())) {
      Work earlier = interrupted(source, DataPathChoice.MOVER, "hash");
      Files.delete(folder(earlier).resolve("work.json"));
      ChildAgent.dying(lab, "MOVER", source, "AFTER", "gpu-checkpoint");
      Work later = lab.engine().thaw().inHand().get(0);
      assertThat(later.id()).isNotEqualTo(earlier.id());
      assertThat(lab.engine().interruptedPublication().isCaptured(later)).isFalse();
      lab.thaw(source);
    }
  }

  private Path folder(Work work) {
    return lab.parts().journal().folderOf(work.containerId());
  }

  /** As it is left by agents that have died in their attempts, the last one some time ago. */
  private void died(Work work, int attempts, Duration ago) throws IOException {
    Instant last = lab.parts().clock().instant().minus(ago);
    Capture.stored(folder(work)).orElseThrow().withAttempts(attempts, last).write(folder(work));
  }

  private SourceState.Kind thawed(GpuContainer source) throws InterruptedException {
    ThawOutcome outcome = lab.engine().thaw().run(source.id(), StepListener.NONE);
    assertThat(outcome).isInstanceOf(ThawOutcome.Ended.class);
    return ((ThawOutcome.Ended) outcome).state().kind();
  }

  /** An upgrade or a full node may have ended it. */
  @Test
  void anAgentThatDiesInItsAttemptIsFollowedByAnother() throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "hash");
      died(work, 1, Duration.ZERO);
      assertThat(complete(work)).isTrue();
      assertThat(lab.artifacts()).hasSize(1);
      lab.thaw(source);
      lab.assertNothingLeft();
    }
  }

  /** Otherwise one publication could end one agent after the other. */
  @Test
  void afterTwoAttemptsThatEndedTheirAgentsTheCheckpointOfARunningWorkloadIsGivenUp()
      throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "hash");
      died(work, 2, Duration.ZERO);
      assertThat(complete(work)).isFalse();
      assertThat(lab.artifacts()).isEmpty();
      lab.thaw(source);
      lab.assertNothingLeft();
    }
  }

  @Test
  void theOnlyCopyStaysUntilItIsPublishedHoweverManyAgentsDie() throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "hash");
      source.end();
      died(work, 20, Duration.ofMinutes(50));
      assertThat(thawed(source)).isEqualTo(SourceState.Kind.UNKNOWN);
      assertThat(Path.of(Objects.requireNonNull(work.artifactStage()))).isDirectory();

      died(work, 20, Duration.ofMinutes(70));
      assertThat(thawed(source)).isEqualTo(SourceState.Kind.GONE);
      assertThat(
              new ArtifactReader(Progress.NONE)
                  .open(Path.of(Objects.requireNonNull(work.artifact())), null))
          .isInstanceOf(Opened.Verified.class);
      lab.assertNothingLeft();
    }
  }

  @Test
  void eachAttemptThatEndedItsAgentDoublesTheWait() throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "hash");
      Instant now = lab.parts().clock().instant();
      Capture capture = Capture.stored(folder(work)).orElseThrow();
      assertThat(capture.isDue(now)).isTrue();
      assertThat(capture.withAttempts(1, now).isDue(now)).isTrue();
      assertThat(capture.withAttempts(2, now.minusSeconds(59)).isDue(now)).isFalse();
      assertThat(capture.withAttempts(2, now.minusSeconds(61)).isDue(now)).isTrue();
      assertThat(capture.withAttempts(3, now.minusSeconds(119)).isDue(now)).isFalse();
      assertThat(capture.withAttempts(3, now.minusSeconds(121)).isDue(now)).isTrue();
      // The clock was set back since.
      assertThat(capture.withAttempts(3, now.plusSeconds(3600)).isDue(now)).isTrue();
      lab.thaw(source);
    }
  }

  /** A thread that waits for the store may still change the stage once the store responds. */
  @Test
  void noAttemptBeginsWhileAnEarlierOneWasLeftBehind() throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "hash");
      try (HostLocks.Held held = Publication.exclusive(lab.parts(), work.containerId())) {
        assertThat(complete(work)).isFalse();
        assertThat(lab.engine().interruptedPublication().isPending(work)).isTrue();
        assertThat(lab.artifacts()).isEmpty();
      }
      assertThat(complete(work)).isTrue();
      lab.thaw(source);
      lab.assertNothingLeft();
    }
  }

  /** The store fails, but its images and its journal must not stay in memory because of that. */
  @Test
  void aThawedWorkloadIsForgottenAlthoughItsStageCannotBeDeleted() throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "hash");
      String staged = work.artifactStage() + "/criu";
      Sh sh = new Sh();
      sh.must("mount", "-t", "tmpfs", "tmpfs", staged);
      try {
        lab.thaw(source);

        assertThat(folder(work)).isEmptyDirectory();
        assertThat(lab.engine().thaw().inHand()).isEmpty();
      } finally {
        sh.must("umount", staged);
      }
    }
  }

  @Test
  void anAttemptThatFailsIsRepeated() throws Exception {
    try (GpuContainer source = start(spec())) {
      Work work = interrupted(source, DataPathChoice.MOVER, "hash");
      Path staged = first(Objects.requireNonNull(work.artifactStage()), "index.json");
      Path moved = lab.folder().resolve("moved");
      Files.move(staged, moved);
      assertThat(complete(work)).isFalse();
      Files.move(moved, staged);
      assertThat(complete(work)).isTrue();
      assertThat(lab.artifacts()).hasSize(1);
      lab.thaw(source);
      lab.assertNothingLeft();
    }
  }
}
