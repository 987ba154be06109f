package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.layer.TargetVolumes;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cache of models in an emptyDir is packed before the freeze, and only its changes inside it. */
@SuppressWarnings("NullAway") // made before each test
class CacheInVolumeTest {

  private static final int MIB = 8;
  private static final int FILES = 16;
  private static final int FILE_BYTES = 16 << 20;

  private static EngineLab lab;

  @TempDir private Path here;
  @TempDir private Path there;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 96);
  }

  @AfterAll
  static void stop() {
    lab.close();
  }

  private static ContainerSpec spec(Path volume) {
    return ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100")
        .withVolume("/data/cache", volume);
  }

  private void fill() throws IOException {
    byte[] content = new byte[FILE_BYTES];
    for (int i = 0; i < FILES; i++) {
      content[i] = (byte) (i + 1);
      Files.write(here.resolve("shard-" + i), content);
    }
    long second = Instant.now().getEpochSecond();
    // A file that changed a moment ago is left to the freeze.
    await().atMost(Duration.ofSeconds(60)).until(() -> Instant.now().getEpochSecond() > second + 2);
  }

  @Test
  void onlyWhatChangesIsPackedWhileItIsFrozen() throws Exception {
    fill();
    List<Long> sizes = new ArrayList<>();
    Checkpoint checkpoint =
        new Checkpoint(
            lab.parts(),
            HookedStep.all(
                Checkpoint.steps(),
                (moment, step) -> {
                  if (moment == HookedStep.Moment.BEFORE && step.equals("lock")) {
                    sizes.add(archived());
                    change();
                  } else if (moment == HookedStep.Moment.AFTER && step.equals("layer")) {
                    sizes.add(archived());
                  }
                }));
    CheckpointOutcome outcome;
    List<String> before;
    try (GpuContainer source = GpuContainer.start(spec(here))) {
      source.awaitSteps(2);
      Asked asked = Asked.of(lab, source).packing("/data/cache").after(After.EVICT);
      Inspected inspected = lab.engine().checkpoint().inspect(asked.request());
      assertThat(inspected.aheadBytes()).isGreaterThanOrEqualTo((long) FILES * FILE_BYTES);
      assertThat(inspected.layerBytes() - inspected.aheadBytes()).isLessThan(FILE_BYTES);
      outcome = EngineLab.checkpoint(checkpoint, asked);
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Held.class);
      assertThat(sizes.get(0)).isGreaterThan((long) FILES * FILE_BYTES);
      assertThat(sizes.get(1) - sizes.get(0)).isBetween((long) FILE_BYTES, FILE_BYTES + 100_000L);
      assertThat(lab.engine().evicted().end(source.id())).isInstanceOf(ThawOutcome.Ended.class);
      before = source.lines();
    }
    try (GpuContainer target = GpuContainer.start(spec(there).asHolder())) {
      RestoreRequest usual =
          EngineLab.restoreRequest(
              ((CheckpointOutcome.Held) outcome).artifact().path(),
              target,
              RestoreRequest.Options.defaults());
      RestoreRequest request =
          new RestoreRequest(
              usual.id(),
              usual.owner(),
              usual.namespace(),
              usual.artifact(),
              usual.digest(),
              usual.target(),
              usual.options(),
              new TargetVolumes(Map.of("/data/cache", there), Set.of()));
      assertThat(lab.engine().restore().run(request, EngineLab.control(), StepListener.NONE))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(2);
      target.verify(MIB, before);
    }
    assertThat(names(there)).isEqualTo(names(here));
    for (String name : names(here)) {
      assertThat(Files.mismatch(here.resolve(name), there.resolve(name))).as(name).isEqualTo(-1);
    }
    lab.assertNothingLeft();
  }

  @Test
  void aCancelledOneFreezesNothing() throws Exception {
    fill();
    OperationControl control = EngineLab.control();
    List<String> steps = new ArrayList<>();
    try (GpuContainer source = GpuContainer.start(spec(here))) {
      source.awaitSteps(2);
      CheckpointOutcome outcome =
          lab.engine()
              .checkpoint()
              .run(
                  Asked.of(lab, source).packing("/data/cache").request(),
                  control,
                  (step, done, total) -> {
                    steps.add(step);
                    control.cancel("a user");
                  });
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> assertThat(failed.reason()).isEqualTo(Reason.CANCELLED));
      assertThat(steps).contains(PackAhead.NAME).doesNotContain("lock");
      lab.assertNothingLeft();
      source.awaitSteps(2);
      source.verify(MIB);
    }
  }

  /** What the program does between the packing and the freeze. */
  private void change() {
    try {
      Files.write(here.resolve("shard-3"), new byte[FILE_BYTES]);
      Files.delete(here.resolve("shard-4"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long archived() {
    try (Stream<Path> files = Files.walk(lab.store())) {
      return files
          .filter(file -> file.toString().endsWith(".tar"))
          .mapToLong(file -> file.toFile().length())
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
