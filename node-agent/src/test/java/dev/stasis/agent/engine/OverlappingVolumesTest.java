package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.layer.TargetVolumes;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.artifact.ArtifactStage.SealedArtifact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A folder of a volume that is mounted beside the volume is the same folder after a restore. */
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
    "., in/side, in/side/file, file",
    "in/side, ., file, in/side/file",
    "., ., in/side/file, in/side/file",
    "in, other, side/file, none",
  })
  void aFolderOfAVolumeStaysMountedBesideTheVolume(
      String first,
      String second,
      String atFirst,
      String atSecond,
      @TempDir Path here,
      @TempDir Path there)
      throws Exception {
    ContainerSpec spec = spec();
    try (GpuContainer source = GpuContainer.start(spec.withBinds(binds(here, first, second)))) {
      source.awaitSteps(2);
      Files.writeString(here.resolve("in/side/file"), "of the workload");
      Files.setPosixFilePermissions(
          here.resolve("in/side"), PosixFilePermissions.fromString("rwx------"));
      SealedArtifact artifact = checkpoint(source, first, second);
      Files.writeString(
          Files.createDirectories(there.resolve("in/side/old")).resolve("file"), "of the target");
      try (GpuContainer target =
          GpuContainer.start(spec.withBinds(binds(there, first, second)).asHolder())) {
        assertThat(restore(artifact, target, binds(there, first, second)))
            .isInstanceOf(RestoreOutcome.Proven.class);
        Path root = Path.of("/proc/" + target.pid() + "/root/data");
        assertThat(root.resolve("one").resolve(atFirst)).hasContent("of the workload");
        if (!atSecond.equals("none")) {
          // A later write through one mount is seen through the other: it is the same folder.
          Files.writeString(root.resolve("one").resolve(atFirst), "written later");
          assertThat(root.resolve("two").resolve(atSecond)).hasContent("written later");
        }
        assertThat(there.resolve("in/side/old")).doesNotExist();
        assertThat(Files.getPosixFilePermissions(there.resolve("in/side"))).hasSize(3);
      }
    }
  }

  @Test
  void aMountedFolderThatTheWorkloadHasRenamedKeepsItInItsPod(@TempDir Path here) throws Exception {
    try (GpuContainer source = GpuContainer.start(spec().withBinds(binds(here, ".", "in/side")))) {
      source.awaitSteps(2);
      Asked leaving = asked(source, ".", "in/side").after(After.EVICT);
      assertThat(lab.engine().checkpoint().inspect(leaving.request()).notPortable()).isEmpty();
      Files.move(here.resolve("in/side"), here.resolve("in/moved"));
      // A new folder with the old name is not the one that is mounted.
      Files.createDirectory(here.resolve("in/side"));
      assertThat(lab.checkpoint(leaving))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .singleElement()
                      .satisfies(
                          unmet -> {
                            assertThat(unmet.property())
                                .isEqualTo(Requirement.MOVED_FOLDER.property() + " /data/two");
                            assertThat(unmet.found()).isEqualTo("subPath in/side is now in/moved");
                          }));
      source.awaitSteps(2);
      assertThat(lab.published(asked(source, ".", "in/side")).artifact().manifest().notPortable())
          .hasSize(1);
      source.awaitSteps(2);
      source.verify(MIB);
    }
  }

  @Test
  void aFileOfAVolumeIsRefusedBeforeTheFreeze(@TempDir Path here) throws Exception {
    Map<String, Path> binds = binds(here, ".", "in/file");
    Files.writeString(here.resolve("in/file"), "mounted");
    try (GpuContainer source = GpuContainer.start(spec().withBinds(binds))) {
      source.awaitSteps(2);
      assertThat(lab.checkpoint(Asked.of(lab, source).packing("/data/one", "/data/two")))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .extracting(FailedRequirement::property)
                      .containsExactly(Requirement.FILE_OF_VOLUME.property()));
      lab.assertNothingLeft();
      source.awaitSteps(2);
      source.verify(MIB);
    }
  }

  private static ContainerSpec spec() {
    return ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100");
  }

  private static Asked asked(GpuContainer source, String first, String second) {
    return Asked.of(lab, source)
        .packing("/data/one", "/data/two")
        .mounting(Map.of("/data/one", first, "/data/two", second));
  }

  private static SealedArtifact checkpoint(GpuContainer source, String first, String second)
      throws InterruptedException {
    CheckpointOutcome.Published published =
        lab.published(asked(source, first, second).requiringRestorable());
    assertThat(published.artifact().manifest().notPortable()).isNull();
    return published.artifact();
  }

  private static RestoreOutcome restore(
      SealedArtifact artifact, GpuContainer target, Map<String, Path> binds)
      throws InterruptedException {
    return lab.engine()
        .restore()
        .run(request(artifact.path(), target, binds), EngineLab.control(), StepListener.NONE);
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
