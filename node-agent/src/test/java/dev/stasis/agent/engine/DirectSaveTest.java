package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On the direct data path, device memory is saved while the driver and criu work. */
class DirectSaveTest {

  /** More chunks of 8 MiB than a keeper has threads. */
  private static final int MIB = 144;

  /** A save begins within milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private DirectLab direct;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer source;

  @BeforeEach
  void start() {
    lab = new EngineLab(1, 512);
    direct = new DirectLab(lab);
    source = GpuContainer.start(direct.counter("--mib", Integer.toString(MIB)));
    source.awaitSteps(3);
  }

  @AfterEach
  void stop() {
    source.close();
    lab.close();
  }

  @Test
  void aFailedStepEndsTheSaveAndTheWorkloadRuns() throws Exception {
    CheckpointOutcome.Failed failed =
        failed(
            (moment, step) -> {
              if (moment == Moment.BEFORE && step.equals("offload")) {
                lab.gpus().fault(copy(), "hold always");
              } else if (moment == Moment.AFTER && step.equals("dump")) {
                awaitSave();
                throw new StepFailure(Reason.INTERNAL, "injected");
              } else if (moment == Moment.BEFORE_UNDO && step.equals("copied")) {
                // A save that continues is held at its next chunk.
                lab.gpus().release(copy());
              }
            });
    assertThat(failed.message()).isEqualTo("injected");
  }

  @Test
  void aKeeperThatDiesDuringTheSaveLosesNothing() throws Exception {
    CheckpointOutcome.Failed failed =
        failed(
            (moment, step) -> {
              if (moment == Moment.BEFORE && step.equals("offload")) {
                lab.gpus().fault(copy(), "hold always");
              } else if (moment == Moment.AFTER && step.equals("dump")) {
                awaitSave();
                direct.kill("serve");
              }
            });
    assertThat(failed.reason()).isEqualTo(Reason.REGION_MOVE);
  }

  @Test
  void aFailureAtTheBeginningOfTheSaveLeavesOneKeeper() throws Exception {
    failed(HookedStep.failing(Moment.AFTER, "offload"));
    assertThat(direct.keepers("serve")).hasSize(1);
  }

  /** An eviction that fails; the workload runs. */
  private CheckpointOutcome.Failed failed(HookedStep.Hook hook) throws InterruptedException {
    Checkpoint checkpoint = new Checkpoint(lab.parts(), HookedStep.all(Checkpoint.steps(), hook));
    CheckpointOutcome outcome =
        EngineLab.checkpoint(checkpoint, Asked.of(lab, source).after(After.EVICT));
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Failed.class);
    CheckpointOutcome.Failed failed = (CheckpointOutcome.Failed) outcome;
    assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.RUNNING);
    assertUnharmed();
    return failed;
  }

  /** The keeper's calls that copy to the host. */
  private String copy() {
    return "copyDtoH." + direct.keepers("serve").get(0).pid();
  }

  private void awaitSave() {
    Awaitility.await("the save has begun").atMost(LIMIT).until(() -> lab.gpus().isHeld(copy()));
  }

  @Test
  void whatIsFinalIsAnnouncedDuringTheSaveAndDoesNotChange() throws Exception {
    Map<Path, Map<Long, Integer>> digests = new ConcurrentHashMap<>();
    StageListener stages =
        new StageListener() {
          @Override
          public void begins(Path folder) {}

          @Override
          public void grew(Path file, long bytes) {
            if (file.toString().contains("/device/")) {
              digests
                  .computeIfAbsent(file.getFileName(), name -> new ConcurrentHashMap<>())
                  .put(bytes, digest(file, bytes));
            }
          }

          @Override
          public void finished(Path folder) {}
        };

    CheckpointOutcome outcome =
        lab.engine()
            .checkpoint()
            .run(
                Asked.of(lab, source).after(After.EVICT).request(),
                EngineLab.control(),
                StepListener.NONE,
                stages);

    assertThat(outcome).isInstanceOf(CheckpointOutcome.Held.class);
    Path device = ((CheckpointOutcome.Held) outcome).artifact().path().resolve("device");
    // The beginning of the table, and the data.
    assertThat(digests).hasSize(2);
    digests.forEach(
        (file, found) ->
            found.forEach(
                (bytes, digest) ->
                    assertThat(digest(device.resolve(file), bytes)).isEqualTo(digest)));
    lab.thaw(source);
    assertUnharmed();
  }

  private static int digest(Path file, long bytes) {
    try (InputStream in = Files.newInputStream(file)) {
      return Arrays.hashCode(in.readNBytes((int) bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void assertUnharmed() {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
