package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.CheckpointRequest.StagePlace;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.HungDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The disk of the store stops responding while a workload is frozen. */
class HungStoreTest {

  private static final int MIB = 16;

  /** A machine under load makes progress more often. */
  private static final Duration SILENCE = Duration.ofSeconds(8);

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @SuppressWarnings("NullAway.Init")
  private Path disk;

  @SuppressWarnings("NullAway.Init")
  private HungDisk hung;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 128);
    source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    source.awaitSteps(3);
  }

  @BeforeEach
  void mount() throws IOException, InterruptedException {
    disk = Files.createDirectory(lab.folder().resolve("disk"));
    hung = HungDisk.mount(lab.state().resolve("image"), disk);
    Files.createDirectory(store());
  }

  @AfterEach
  void unmount() throws IOException, InterruptedException {
    hung.respond();
    try {
      if (!lab.engine().thaw().inHand().isEmpty()) {
        lab.thaw(source);
      }
    } finally {
      hung.close();
      Files.delete(disk);
    }
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  private Path store() {
    return disk.resolve("store");
  }

  @ParameterizedTest
  @CsvSource({
    "move, DISK, EVICT",
    "dump, MEMORY, RESUME",
    "layer, MEMORY, RESUME",
    "hash, MEMORY, SUSPEND",
    "publish, DISK, EVICT"
  })
  void theWorkloadIsThawedWithoutIt(String step, StagePlace stage, After after) throws Exception {
    CheckpointOutcome outcome = checkpoint(step, stage, after);

    assertThat(outcome)
        .as(outcome.toString())
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed ->
                assertThat(failed.source().kind())
                    .as(failed.message() + failed.source())
                    .isEqualTo(SourceState.Kind.RUNNING));
    assertThat(hung.hangs()).isTrue();
    runsOn();
    hung.respond();
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(names()).as("what is left in the store").isEmpty());
    runsOn();
  }

  /** Its capture is complete, but the thaw failed: each attempt publishes it first. */
  @Test
  void anAttemptToPublishACaptureLaterDoesNotWaitForIt() throws Exception {
    try (EngineLab other = new EngineLab(1, 128);
        GpuContainer container = counter(other)) {
      NodeParts parts = LabParts.silence(other, SILENCE);
      Work work = captured(other, container, parts);
      InterruptedPublication publication = new InterruptedPublication(parts);
      assertThat(publication.isCaptured(work)).isTrue();

      assertThat(publication.complete(work)).isFalse();
      assertThat(publication.complete(work)).isFalse();

      assertThat(waiting(work)).as("threads that wait for the store").hasSize(1);
      assertThat(hung.hangs()).isTrue();
      hung.respond();
      await().atMost(Duration.ofSeconds(60)).until(() -> publication.complete(work));
      assertThat(Path.of(String.valueOf(work.artifact()))).isDirectory();
    }
  }

  /** What is reported after the thaw, and the next operation on the GPU, would wait for it too. */
  @Test
  void aThawDoesNotWaitForTheDeletionOfItsStage() throws Exception {
    try (EngineLab other = new EngineLab(1, 128);
        GpuContainer container = counter(other)) {
      NodeParts parts = LabParts.silence(other, SILENCE);
      Work work = captured(other, container, parts);

      ThawOutcome outcome = new Thaw(parts).run(container.id(), StepListener.NONE);

      assertThat(hung.hangs()).isTrue();
      assertThat(outcome)
          .isInstanceOfSatisfying(
              ThawOutcome.Ended.class,
              ended ->
                  assertThat(ended.state().kind())
                      .as(ended.state().detail())
                      .isEqualTo(SourceState.Kind.RUNNING));
      other.assertNothingLeft();
      container.awaitSteps(3);
      hung.respond();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(Path.of("" + work.artifactStage())).doesNotExist());
    }
  }

  private static GpuContainer counter(EngineLab other) {
    GpuContainer container =
        GpuContainer.start(
            ContainerSpec.counter(other.gpus(), "--mib", "" + MIB, "--interval-ms", "100"));
    container.awaitSteps(3);
    return container;
  }

  /** Leaves a workload frozen whose artifact cannot be published, because the store hangs. */
  private Work captured(EngineLab other, GpuContainer container, NodeParts parts)
      throws InterruptedException {
    HookedStep.Hook hook = HookedStep.failing(HookedStep.Moment.BEFORE_UNDO, "lock");
    CheckpointOutcome outcome =
        new Checkpoint(parts, HookedStep.all(Checkpoint.steps(), hook))
            .run(
                Asked.of(other, container)
                    .to(store())
                    .staged(StagePlace.MEMORY)
                    .by(DataPathChoice.MOVER)
                    .request(),
                EngineLab.control(),
                (step, done, total) -> {
                  if (step.equals("tidy")) {
                    hung.hang();
                  }
                });
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Failed.class);
    return other.engine().thaw().inHand().get(0);
  }

  private static List<Thread> waiting(Work work) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("artifact of " + work.id()))
        .toList();
  }

  /** The keeper holds its device memory, and saves it there. */
  @ParameterizedTest
  @CsvSource({"offload", "lock"})
  void theWorkloadGetsItsDeviceMemoryBackWithoutIt(String step) throws Exception {
    try (EngineLab other = new EngineLab(1, 256);
        GpuContainer container = GpuContainer.start(new DirectLab(other).counter())) {
      container.awaitSteps(3);
      CheckpointOutcome outcome =
          new Checkpoint(LabParts.silence(other, SILENCE))
              .run(
                  Asked.of(other, container)
                      .to(store())
                      .after(After.EVICT)
                      .staged(StagePlace.DISK)
                      .request(),
                  EngineLab.control(),
                  (name, done, total) -> {
                    if (name.equals(step) && !hung.hangs()) {
                      hangDuringSave(other, step);
                    } else if (name.equals("offload")) {
                      other.gpus().fault(copy(other), "hold");
                    }
                  });

      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed ->
                  assertThat(failed.source().kind())
                      .as(failed.message() + failed.source())
                      .isEqualTo(SourceState.Kind.RUNNING));
      assertThat(hung.hangs()).isTrue();
      new DirectLab(other).assertUnharmed(container);
      hung.respond();
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(names()).as("what is left in the store").isEmpty());
      new DirectLab(other).assertUnharmed(container);
    }
  }

  /** Before the save begins, or when the keeper has its first chunk and has not written it. */
  private void hangDuringSave(EngineLab other, String step) {
    if (step.equals("offload")) {
      hung.hang();
      return;
    }
    await().atMost(Duration.ofSeconds(60)).until(() -> other.gpus().isHeld(copy(other)));
    hung.hang();
    other.gpus().release(copy(other));
  }

  /** The keeper's calls that copy to the host. */
  private static String copy(EngineLab lab) {
    return "copyDtoH." + new DirectLab(lab).keepers("serve").get(0).pid();
  }

  private CheckpointOutcome checkpoint(String step, StagePlace stage, After after)
      throws InterruptedException {
    return new Checkpoint(LabParts.silence(lab, SILENCE))
        .run(
            Asked.of(lab, source)
                .to(store())
                .after(after)
                .staged(stage)
                .by(DataPathChoice.MOVER)
                .request(),
            EngineLab.control(),
            (name, done, total) -> {
              if (name.equals(step)) {
                hung.hang();
              }
            });
  }

  private List<String> names() {
    try (Stream<Path> entries = Files.list(store())) {
      return entries.map(entry -> String.valueOf(entry.getFileName())).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void runsOn() {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
