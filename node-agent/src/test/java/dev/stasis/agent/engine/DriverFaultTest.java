package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.SourceState.Kind;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.artifact.ArtifactReader;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.Opened;
import dev.stasis.artifact.Progress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever the driver does in any of its calls, the workload runs on with right numbers, or the
 * failure says that it does not, and a thaw restores what can be restored.
 */
class DriverFaultTest {

  private static final int MIB = 8;

  /** The engine's patience in tests with a call that hangs; the other calls take milliseconds. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  /** The same workload bears every fault after which it keeps running. */
  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void makeLab() {
    lab = new EngineLab(1, 96);
    source = start();
  }

  @AfterAll
  static void closeLab() {
    source.close();
    lab.close();
  }

  private static ContainerSpec spec() {
    return ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100");
  }

  private static GpuContainer start() {
    GpuContainer container = GpuContainer.start(spec());
    container.awaitSteps(2);
    return container;
  }

  /** The outcome of a checkpoint in which the driver does that once. */
  private static CheckpointOutcome checkpoint(GpuContainer container, String call, String fault)
      throws InterruptedException {
    lab.gpus().fault(call, fault);
    CheckpointOutcome outcome =
        EngineLab.checkpoint(new Checkpoint(parts(call, fault)), Asked.of(lab, container));
    assertThat(Files.exists(lab.gpus().folder().resolve("faults").resolve(call)))
        .as("whether the fault waits for a call")
        .isFalse();
    return outcome;
  }

  private static NodeParts parts(String call, String fault) {
    if (!fault.startsWith("hang")) {
      return lab.parts();
    }
    // The first GetState is the one that the worker makes after the lock.
    return LabParts.patience(lab, call.equals("state") ? "lock" : call, PATIENCE);
  }

  private static void runsOn() {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }

  /** Nothing says that the process uses CUDA: the workload is not touched. */
  @ParameterizedTest
  @ValueSource(strings = {"hang", "error 999 always"})
  void aFaultBeforeTheFreezeRefusesIt(String fault) throws Exception {
    // A driver that hangs answers nothing about this process until the process ends.
    try (GpuContainer own = start()) {
      lab.gpus().fault("restoreThread", fault);
      CheckpointOutcome outcome =
          EngineLab.checkpoint(new Checkpoint(parts("restoreThread", fault)), Asked.of(lab, own));
      lab.gpus().mend("restoreThread");
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  // Its driver's descriptors count, too, since it is not known to use one.
                  assertThat(refused.unmet().toString())
                      .contains("at least one process that uses CUDA"));
      lab.assertNothingLeft();
      own.awaitSteps(3);
      own.verify(MIB);
    }
  }

  /** A workload is inspected a second time before it is refused. */
  @Test
  void aDriverThatFailsOnceBeforeTheFreezeIsAskedAgain() throws Exception {
    assertThat(checkpoint(source, "restoreThread", "error 999"))
        .isInstanceOf(CheckpointOutcome.Published.class);
    runsOn();
  }

  /** The call fails or hangs on the way into the freeze: it is undone at once. */
  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "checkpoint, error 2 at=before, gpu-checkpoint, DRIVER_ERROR",
    "checkpoint, error 999, gpu-checkpoint, DRIVER_ERROR",
  })
  void aFurtherFaultOnTheWayIntoTheFreezeIsUndone(
      String call, String fault, String step, Reason reason) throws Exception {
    aFaultOnTheWayIntoTheFreezeIsUndone(call, fault, step, reason);
  }

  @ParameterizedTest
  @CsvSource({
    "state, hang, lock, DRIVER_HANG",
    "lock, error 999, lock, DRIVER_ERROR",
    "lock, error 600, lock, LOCK_TIMEOUT",
    "lock, hang at=before, lock, DRIVER_HANG",
    "lock, hang, lock, DRIVER_HANG",
    "checkpoint, error 2, gpu-checkpoint, DRIVER_ERROR",
    "checkpoint, error 801, gpu-checkpoint, REFUSED",
  })
  void aFaultOnTheWayIntoTheFreezeIsUndone(String call, String fault, String step, Reason reason)
      throws Exception {
    assertThat(checkpoint(source, call, fault))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.step()).isEqualTo(step);
              assertThat(failed.reason()).isEqualTo(reason);
              assertThat(failed.source().kind()).isEqualTo(Kind.RUNNING);
            });
    runsOn();
  }

  /** A call that takes long, or finishes although nobody waits for it any more, is no failure. */
  @Tag("long")
  @ParameterizedTest
  @CsvSource({
    "lock, slow 300",
    "checkpoint, slow 500",
    "checkpoint, hang at=after",
    "restore, hang",
    "unlock, slow 300",
  })
  void aFurtherSlowOrLostCallThatFinishesIsGoodEnough(String call, String fault) throws Exception {
    aSlowOrLostCallThatFinishesIsGoodEnough(call, fault);
  }

  @ParameterizedTest
  @CsvSource({
    "lock, hang at=after",
    "checkpoint, hang",
    "restore, slow 500",
    "restore, hang at=after",
    "unlock, hang at=after",
  })
  void aSlowOrLostCallThatFinishesIsGoodEnough(String call, String fault) throws Exception {
    assertThat(checkpoint(source, call, fault)).isInstanceOf(CheckpointOutcome.Published.class);
    runsOn();
  }

  /** The call fails once on the way back: the second attempt succeeds. */
  @ParameterizedTest
  @CsvSource({"restore, error 2 at=before", "unlock, error 999", "restore, hang at=before"})
  void aFaultOnTheWayBackIsRepaired(String call, String fault) throws Exception {
    assertThat(checkpoint(source, call, fault)).isInstanceOf(CheckpointOutcome.Published.class);
    runsOn();
  }

  /**
   * The call fails on the way back: the workload stays whole and frozen until a thaw succeeds. The
   * artifact is published before, and outlives also the thaw after which the driver gives up.
   */
  @Test
  void theArtifactOfAWorkloadThatStaysFrozenIsKept() throws Exception {
    lab.gpus().fault("unlock", "error 999 always");
    Path artifact =
        lab.checkpoint(Asked.of(lab, source)) instanceof CheckpointOutcome.Failed failed
                && failed.source().kind() == Kind.FROZEN
                && failed.artifact() != null
            ? failed.artifact().path()
            : Path.of("none");
    assertThat(new ArtifactReader(Progress.NONE).open(artifact, null))
        .isInstanceOf(Opened.Verified.class);
    assertThat(lab.engine().thaw().inHand()).hasSize(1);
    lab.engine().thaw().run(source.id(), StepListener.NONE);
    assertThat(artifact).isDirectory();
    lab.gpus().mend("unlock");
    lab.thaw(source);
    assertThat(artifact).isDirectory();
    runsOn();
  }

  /** What only the end of the process cures is said, with the driver's own word. */
  @Tag("long")
  @ParameterizedTest
  @CsvSource({"lock, outofstep", "checkpoint, failed", "restore, outofstep"})
  void aProcessThatTheDriverGaveUpOtherwiseIsCalledUnknown(String call, String fault)
      throws Exception {
    aProcessThatTheDriverGaveUpIsCalledUnknownAndItsArtifactIsKept(call, fault);
  }

  @ParameterizedTest
  @CsvSource({"lock, failed", "checkpoint, outofstep", "restore, failed", "unlock, failed"})
  void aProcessThatTheDriverGaveUpIsCalledUnknownAndItsArtifactIsKept(String call, String fault)
      throws Exception {
    List<CheckpointOutcome.Failed> artifacts = new ArrayList<>();
    List<String> before;
    try (GpuContainer lost = start()) {
      assertThat(checkpoint(lost, call, fault))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.source().kind()).isEqualTo(Kind.UNKNOWN);
                assertThat(failed.source().detail()).contains("FAILED");
                // It was complete before the workload was to resume.
                boolean complete = call.equals("restore") || call.equals("unlock");
                assertThat(failed.artifact() != null).isEqualTo(complete);
                artifacts.add(failed);
              });
      assertThat(lab.engine().thaw().inHand()).hasSize(1);
      lost.end();
      assertThat(lab.engine().thaw().run(lost.id(), StepListener.NONE))
          .isInstanceOfSatisfying(
              ThawOutcome.Ended.class,
              ended -> assertThat(ended.state().kind()).isEqualTo(Kind.GONE));
      lab.assertNothingLeft();
      before = lost.lines();
    }
    ArtifactStage.SealedArtifact kept = artifacts.get(0).artifact();
    if (kept != null) {
      try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
        assertThat(lab.restore(kept.path(), target)).isInstanceOf(RestoreOutcome.Proven.class);
        target.awaitSteps(3);
        target.verify(MIB, before);
      }
    }
  }
}
