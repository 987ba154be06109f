package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.layer.TargetVolumes;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.SimGpuNode;
import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Workloads with the library of the direct data path are checkpointed in place, suspended, evicted
 * and restored, and every number is right. A test of a kind that the driver's path has as well is
 * named as there.
 */
class DirectPathTest {

  private static final int MIB = DirectLab.MIB;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @BeforeEach
  void makeLab() {
    lab = new EngineLab(2, 256);
  }

  @AfterEach
  void closeLab() {
    lab.close();
  }

  static Stream<Arguments> workloads() {
    return Stream.of(
        Arguments.of("two CUDA processes", List.of("--fork", "1")),
        Arguments.of("a launcher without a context", List.of("--launcher")),
        Arguments.of(
            "threads, a data loader, memory written all the time",
            List.of("--threads", "3", "--loader", "--busy-writer")));
  }

  /** Each alone: which one a failure of all of them is about. */
  static Stream<Arguments> single() {
    return Stream.of(
        Arguments.of("one process", List.of()),
        Arguments.of("threads", List.of("--threads", "3")),
        Arguments.of("memory written all the time", List.of("--busy-writer")),
        Arguments.of("a data loader", List.of("--loader")));
  }

  private GpuContainer started(ContainerSpec spec) {
    GpuContainer source = GpuContainer.start(spec);
    source.awaitSteps(3);
    return source;
  }

  @Tag("long")
  @ParameterizedTest(name = "{0}")
  @MethodSource("single")
  void aWorkloadWithOneOfThemIsRestoredElsewhere(String what, List<String> more) throws Exception {
    aWorkloadResumesInPlaceAndIsRestoredElsewhere(what, more);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("workloads")
  void aWorkloadResumesInPlaceAndIsRestoredElsewhere(String what, List<String> more)
      throws Exception {
    ContainerSpec spec = new DirectLab(lab).counter(more.toArray(String[]::new));
    CheckpointOutcome.Published published;
    List<String> before;
    try (GpuContainer source = started(spec)) {
      for (int generation = 0; generation < 2; generation++) {
        published = lab.published(Asked.of(lab, source));
        assertThat(published.figures().path()).as(what).isEqualTo("direct");
        source.awaitSteps(5);
        source.verify(MIB);
      }
      published = lab.published(Asked.of(lab, source));
      before = source.lines();
    }
    lab.assertNothingLeft();
    Manifest manifest = published.artifact().manifest();
    assertThat(manifest.dataPath().kind()).isEqualTo(Manifest.DataPath.Kind.DIRECT);
    assertThat(manifest.device()).isNotNull();
    restored(spec, published.artifact().path(), before);
  }

  /** If a keeper ended while the workload runs, its context would end the workload. */
  @Test
  void aWorkloadWithLongKernelsResumesTwice() throws Exception {
    try (EngineLab slow = new EngineLab(SimGpuNode.make(1, 256, "--switch-ms", "200"))) {
      ContainerSpec spec = new DirectLab(slow).counter("--kernel-ms", "900");
      try (GpuContainer source = started(spec)) {
        for (int generation = 0; generation < 2; generation++) {
          assertThat(slow.published(Asked.of(slow, source)).figures().path()).isEqualTo("direct");
          source.awaitSteps(3);
        }
        new DirectLab(slow).assertUnharmed(source);
      }
    }
  }

  private void restored(ContainerSpec spec, Path artifact, List<String> before) throws Exception {
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      RestoreOutcome restored = lab.restore(artifact, target);
      assertThat(restored).isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(5);
      target.verify(MIB, before);
    }
    lab.assertNothingLeft();
  }

  /** What the keeper has loaded while criu worked is not read again. */
  @Test
  void deviceMemoryIsLoadedWhileTheProcessesAreRestored() throws Exception {
    ContainerSpec spec = new DirectLab(lab).counter();
    Path artifact;
    List<String> before;
    try (GpuContainer source = started(spec)) {
      artifact = lab.published(Asked.of(lab, source)).artifact().path();
      before = source.lines();
    }
    Restore restore =
        new Restore(
            lab.parts(),
            HookedStep.all(
                Restore.steps(),
                (moment, step) -> {
                  if (moment == HookedStep.Moment.BEFORE && step.equals("reload")) {
                    new DirectLab(lab).awaitPrefilled();
                    damage(artifact);
                  }
                }));
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(EngineLab.restore(restore, artifact, target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(5);
      target.verify(MIB, before);
    }
    lab.assertNothingLeft();
  }

  @Test
  void damagedDeviceMemoryIsRefusedBeforeTheWorkloadRuns() throws Exception {
    ContainerSpec spec = new DirectLab(lab).counter();
    Path artifact;
    try (GpuContainer source = started(spec)) {
      artifact = lab.published(Asked.of(lab, source)).artifact().path();
    }
    damage(artifact);
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(artifact, target))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> {
                assertThat(failed.reason()).isEqualTo(Reason.ARTIFACT_REFUSED);
                assertThat(failed.message()).contains("device/", "wrong digest");
              });
      assertThat(target.lines()).isEmpty();
    }
    lab.assertNothingLeft();
  }

  private static void damage(Path artifact) {
    try (Stream<Path> files = Files.list(artifact.resolve("device"))) {
      for (Path file : files.filter(one -> one.toString().endsWith(".data")).toList()) {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aSuspendedWorkloadHoldsNoDeviceMemoryAndComesBackAnyNumberOfTimes() throws Exception {
    try (GpuContainer source = started(new DirectLab(lab).counter())) {
      for (int round = 0; round < 3; round++) {
        CheckpointOutcome outcome =
            lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
        assertThat(outcome)
            .isInstanceOfSatisfying(
                CheckpointOutcome.Suspended.class,
                suspended -> {
                  assertThat(suspended.freedBytes()).isGreaterThan((long) MIB << 20);
                  assertThat(suspended.figures().path()).startsWith("direct");
                });
        assertThat(new DirectLab(lab).keepers("serve")).isEmpty();
        lab.thaw(source);
        lab.assertNothingLeft();
        source.awaitSteps(3);
        source.verify(MIB);
      }
    }
  }

  @Test
  void anEvictedWorkloadIsThawedOrRestored() throws Exception {
    ContainerSpec spec = new DirectLab(lab).counter();
    CheckpointOutcome.Held held;
    List<String> before;
    try (GpuContainer source = started(spec)) {
      assertThat(lab.checkpoint(Asked.of(lab, source).after(After.EVICT)))
          .isInstanceOf(CheckpointOutcome.Held.class);
      lab.thaw(source);
      source.awaitSteps(3);
      source.verify(MIB);
      held = (CheckpointOutcome.Held) lab.checkpoint(Asked.of(lab, source).after(After.EVICT));
      before = source.lines();
      assertThat(lab.engine().evicted().end(source.id())).isInstanceOf(ThawOutcome.Ended.class);
    }
    lab.assertNothingLeft();
    restored(spec, held.artifact().path(), before);
  }

  /** As the operator's webhook brings it: in an emptyDir, which is empty in the target. */
  @Test
  void theLibraryComesBackWithTheFilesOfTheWorkload(@TempDir Path here, @TempDir Path there)
      throws Exception {
    Files.copy(EngineLab.gate(), here.resolve("libstasis-gate.so"));
    ContainerSpec spec = new DirectLab(lab).counter();
    CheckpointOutcome.Published published;
    List<String> before;
    try (GpuContainer source = started(spec.withVolume("/gate", here))) {
      published = lab.published(Asked.of(lab, source).packing("/gate").requiringRestorable());
      assertThat(published.artifact().manifest().notPortable()).isNull();
      before = source.lines();
    }
    try (GpuContainer target = GpuContainer.start(spec.withVolume("/gate", there).asHolder())) {
      RestoreRequest usual =
          EngineLab.restoreRequest(
              published.artifact().path(), target, RestoreRequest.Options.defaults());
      RestoreOutcome restored =
          lab.engine()
              .restore()
              .run(
                  new RestoreRequest(
                      usual.id(),
                      usual.owner(),
                      usual.namespace(),
                      usual.artifact(),
                      usual.digest(),
                      usual.target(),
                      usual.options(),
                      new TargetVolumes(Map.of("/gate", there), Set.of())),
                  EngineLab.control(),
                  StepListener.NONE);
      assertThat(restored).isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(3);
      target.verify(MIB, before);
    }
    lab.assertNothingLeft();
  }

  @Test
  void aTargetWithoutTheLibraryIsRefusedByName() throws Exception {
    ContainerSpec spec = new DirectLab(lab).counter();
    try (GpuContainer source = started(spec)) {
      CheckpointOutcome.Published published = lab.published(Asked.of(lab, source));
      try (GpuContainer target = GpuContainer.start(ContainerSpec.counter(lab.gpus()).asHolder())) {
        assertThat(lab.restore(published.artifact().path(), target))
            .isInstanceOfSatisfying(
                RestoreOutcome.Refused.class,
                refused ->
                    assertThat(refused.unmet().toString())
                        .contains("library of the direct data path"));
      }
      source.awaitSteps(3);
      source.verify(MIB);
    }
  }

  /** The way back has an allocation twice for a moment: of 128 MiB there is no room on 256. */
  @Test
  void aGpuWithoutRoomForTheWayBackLeavesTheWorkloadToTheDriver() throws Exception {
    try (GpuContainer source = started(new DirectLab(lab).counter("--mib", "128"))) {
      assertThat(lab.engine().checkpoint().inspect(Asked.of(lab, source).request()).dataPath())
          .isInstanceOfSatisfying(
              DataPath.Driver.class,
              driver ->
                  assertThat(driver.whyNotDirect())
                      .startsWith("free memory of GPU")
                      .endsWith("for a second copy of the largest allocation"));
      CheckpointOutcome.Published published = lab.published(Asked.of(lab, source));
      assertThat(published.figures().path())
          .startsWith("mover")
          .contains("not direct: free memory of GPU");
      source.awaitSteps(3);
      source.verify(128);
    }
    lab.assertNothingLeft();
  }

  /** Only the largest allocation counts: the same 128 MiB in two of them find room. */
  @Test
  void twoHalvesFindTheRoomThatOneAllocationDoesNot() throws Exception {
    try (GpuContainer source =
        started(new DirectLab(lab).counter("--mib", "64", "--ballast", "64"))) {
      assertThat(lab.published(Asked.of(lab, source)).figures().path()).startsWith("direct");
      source.awaitSteps(20); // Every 16 steps all of it is compared.
      source.verify(64);
    }
    lab.assertNothingLeft();
  }
}
