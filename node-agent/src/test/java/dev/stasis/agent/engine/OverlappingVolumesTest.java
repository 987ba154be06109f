package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.layer.TargetVolumes;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A volume that is mounted whole and once more by a folder of it stays in its pod. */
class OverlappingVolumesTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @BeforeAll
  static void makeLab() {
    lab = new EngineLab(1, 96);
  }

  @AfterAll
  static void closeLab() {
    lab.close();
  }

  @ParameterizedTest
  @CsvSource({
    "., in/side, true",
    "in/side, ., true",
    "., ., false",
    "in, other, false",
  })
  void aFolderOfAVolumeBesideTheVolumeKeepsItInItsPod(
      String first, String second, boolean overlaps, @TempDir Path here, @TempDir Path there)
      throws Exception {
    ContainerSpec spec =
        ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "20");
    try (GpuContainer source = GpuContainer.start(spec.withBinds(binds(here, first, second)))) {
      source.awaitSteps(2);
      Files.writeString(here.resolve("in/side/file"), "of the workload");
      Asked asked = Asked.of(lab, source).packing("/data/one", "/data/two");
      if (overlaps) {
        assertThat(lab.checkpoint(asked.after(After.EVICT)))
            .isInstanceOfSatisfying(
                CheckpointOutcome.Refused.class,
                refused ->
                    assertThat(refused.unmet())
                        .singleElement()
                        .satisfies(
                            unmet -> {
                              assertThat(unmet.property())
                                  .isEqualTo(Requirement.OVERLAPPING_MOUNTS.property());
                              assertThat(unmet.found()).contains("in/side");
                            }));
        lab.assertNothingLeft();
        source.awaitSteps(2);
      }
      CheckpointOutcome.Published published = lab.published(asked);
      source.verify(MIB);
      RestoreOutcome outcome;
      try (GpuContainer target =
          GpuContainer.start(spec.withBinds(binds(there, first, second)).asHolder())) {
        outcome =
            lab.engine()
                .restore()
                .run(
                    request(published.artifact().path(), target, binds(there, first, second)),
                    EngineLab.control(),
                    StepListener.NONE);
      }
      if (overlaps) {
        assertThat(published.artifact().manifest().notPortable()).hasSize(1);
        assertThat(outcome).isInstanceOf(RestoreOutcome.Refused.class);
      } else {
        assertThat(published.artifact().manifest().notPortable()).isNull();
        assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
        assertThat(there.resolve("in/side/file")).exists();
      }
    }
  }

  private static RestoreRequest request(
      Path artifact, GpuContainer target, Map<String, Path> emptyDirs) {
    RestoreRequest usual =
        EngineLab.restoreRequest(artifact, target, RestoreRequest.Options.defaults());
    return new RestoreRequest(
        usual.id(),
        usual.owner(),
        usual.namespace(),
        usual.artifact(),
        usual.digest(),
        usual.target(),
        usual.options(),
        new TargetVolumes(emptyDirs, Set.of()));
  }

  private static Map<String, Path> binds(Path host, String first, String second)
      throws IOException {
    Files.createDirectories(host.resolve("in/side"));
    Files.createDirectories(host.resolve("other"));
    Map<String, Path> binds = new LinkedHashMap<>();
    binds.put("/data/one", host.resolve(first).normalize());
    binds.put("/data/two", host.resolve(second).normalize());
    return binds;
  }
}
