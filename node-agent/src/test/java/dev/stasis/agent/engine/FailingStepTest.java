package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStore;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A checkpoint that fails before or after any of its steps leaves a workload that runs on with
 * right numbers, and nothing else. The same workload bears all of them, one after the other.
 */
class FailingStepTest {

  @SuppressWarnings("NullAway.Init")
  private static CountingLab counting;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    counting = CountingLab.start();
    lab = counting.lab();
    source = counting.source();
  }

  @AfterAll
  static void stop() {
    counting.close();
  }

  static Stream<Arguments> everyStep() {
    return Checkpoint.steps().stream()
        .flatMap(
            step ->
                Stream.of(
                    Arguments.of(Moment.BEFORE, step.name()),
                    Arguments.of(Moment.AFTER, step.name())));
  }

  static Stream<String> everyUndo() {
    // Nothing of this workload is offloaded; DirectLossTest has one of which it is.
    return Checkpoint.steps().stream().map(Step::name).filter(name -> !name.equals("offload"));
  }

  @ParameterizedTest
  @MethodSource("everyStep")
  void aFailedStepIsUndoneAndNothingIsLeft(Moment moment, String step) throws Exception {
    CheckpointOutcome outcome = run(HookedStep.failing(moment, step));
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Failed.class);
    CheckpointOutcome.Failed failed = (CheckpointOutcome.Failed) outcome;
    assertThat(failed.step()).isEqualTo(step);
    assertThat(failed.message()).isEqualTo("injected " + moment + " " + step);
    assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
    runsOn();
  }

  /** A note on the way back is worth less than the workload. */
  @Test
  void aFailedStepIsUndoneWhenTheStateFolderIsFull() throws Exception {
    Path note = lab.state().resolve("work").resolve(source.id()).resolve("work.json.new");
    CheckpointOutcome outcome =
        run(
            (at, name) -> {
              if (at == Moment.AFTER && name.equals("dump")) {
                try {
                  Files.createDirectory(note);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
                throw new StepFailure(Reason.INTERNAL, "the state folder is full");
              }
            });
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING));
    runsOn();
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyStep")
  void anUnexpectedExceptionInAnyStepIsUndoneToo(Moment moment, String step) throws Exception {
    anUnexpectedExceptionInAStepIsUndoneToo(moment, step);
  }

  @ParameterizedTest
  @CsvSource({"BEFORE, lock", "AFTER, gpu-checkpoint", "BEFORE, move", "AFTER, dump"})
  void anUnexpectedExceptionInAStepIsUndoneToo(Moment moment, String step) throws Exception {
    CheckpointOutcome outcome =
        run(
            (at, name) -> {
              if (at == moment && name.equals(step)) {
                throw new IllegalStateException("a bug");
              }
            });
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(Reason.INTERNAL);
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
    runsOn();
  }

  /** An interrupted file operation fails, and the thread stays interrupted. */
  @Test
  void aStepThatAnInterruptFailsIsUndone() throws Exception {
    CheckpointOutcome outcome =
        run(
            (at, name) -> {
              if (at == Moment.AFTER && name.equals("dump")) {
                Thread.currentThread().interrupt();
                throw new StepFailure(Reason.STORE_FAILED, "ClosedByInterruptException");
              }
            });
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING));
    runsOn();
  }

  @Test
  void anInterruptThatNoStepHasSeenEndsTheFreeze() throws Exception {
    String last = Checkpoint.steps().get(Checkpoint.steps().size() - 1).name();
    CheckpointOutcome outcome =
        run(
            (at, name) -> {
              if (at == Moment.AFTER && name.equals(last)) {
                Thread.currentThread().interrupt();
              }
            });
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.reason()).isEqualTo(Reason.CANCELLED);
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
    runsOn();
  }

  @ParameterizedTest
  @MethodSource("everyUndo")
  void aFailedUndoIsReportedAndAThawCompletesIt(String step) throws Exception {
    CheckpointOutcome outcome = run(HookedStep.failing(Moment.BEFORE_UNDO, step));
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.FROZEN);
              assertThat(failed.message()).contains("injected BEFORE_UNDO " + step);
              assertThat(failed.artifact()).isNotNull();
            });
    assertThat(lab.engine().thaw().inHand()).hasSize(1);
    lab.thaw(source);
    counting.runsOn();
    deleteArtifacts();
  }

  /** The end of a failed checkpoint reads the record of the container, which may say more. */
  @ParameterizedTest
  @CsvSource({
    "cannot be read, true",
    "is that of a later checkpoint whose artifact is not published, false"
  })
  void theStageIsDeletedUnlessItMayBeAnOnlyCopy(String record, boolean kept) throws Exception {
    Path folder = lab.state().resolve("work").resolve(source.id());
    Path json = folder.resolve("work.json");
    List<String> own = new ArrayList<>();
    HookedStep.Hook hook =
        (at, name) -> {
          if (at == Moment.AFTER && name.equals("dump")) {
            throw new StepFailure(Reason.INTERNAL, "injected");
          }
          if (at == Moment.BEFORE_UNDO && name.equals("lock")) {
            try {
              own.add(Files.readString(json));
              Files.writeString(
                  json, kept ? "{" : own.get(0).replace("/.staging-", "/../store/.staging-"));
              Files.writeString(folder.resolve("capture.json"), "{}");
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            throw new StepFailure(Reason.INTERNAL, "injected");
          }
        };

    assertThat(run(hook)).isInstanceOf(CheckpointOutcome.Failed.class);

    try (Stream<Path> names = Files.list(lab.store())) {
      assertThat(names.anyMatch(name -> Files.isDirectory(name))).as(record).isEqualTo(kept);
    }
    Files.delete(folder.resolve("capture.json"));
    Files.writeString(json, own.get(0));
    lab.thaw(source);
    runsOn();
  }

  @Test
  void theCompleteCaptureOfAWorkloadThatEndsDuringTheRollbackIsPublished() throws Exception {
    OperationControl control = EngineLab.control();
    try (GpuContainer victim =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "8", "--interval-ms", "100"))) {
      victim.awaitSteps(2);
      HookedStep.Hook hook =
          (at, name) -> {
            if (at == Moment.AFTER && name.equals("copied")) {
              control.cancel("a test");
            }
            if (at == Moment.BEFORE_UNDO && name.equals("copied")) {
              victim.end();
            }
          };
      assertThat(
              new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook))
                  .run(Asked.of(lab, victim).request(), control, StepListener.NONE))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.reason()).isEqualTo(Reason.CANCELLED);
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.GONE);
                assertThat(failed.artifact()).isNotNull();
              });
    }
    for (Path artifact : lab.artifacts()) {
      assertThat(new ArtifactReader(Progress.NONE).open(artifact, null))
          .isInstanceOf(Opened.Verified.class);
    }
    deleteArtifacts();
    runsOn();
  }

  private static void deleteArtifacts() throws IOException {
    for (Path artifact : lab.artifacts()) {
      new ArtifactStore(lab.store(), Clock.systemUTC()).delete(artifact.getFileName().toString());
    }
  }

  private static CheckpointOutcome run(HookedStep.Hook hook) throws InterruptedException {
    List<Step<Freeze, FrozenWork>> steps = HookedStep.all(Checkpoint.steps(), hook);
    return EngineLab.checkpoint(new Checkpoint(lab.parts(), steps), Asked.of(lab, source));
  }

  private static void runsOn() {
    assertThat(lab.artifacts()).isEmpty();
    counting.runsOn();
  }
}
