package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.criu.ImageWatches;
import dev.stasis.agent.criu.RestoreImages;
import dev.stasis.agent.layer.TargetVolumes;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.OddProcess;
import dev.stasis.artifact.ArtifactStage.SealedArtifact;
import dev.stasis.compat.Property;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a workload watches by inotify is watched after a restore too. */
class WatchedFilesTest {

  /** A folder of the image, one that the workload made, a file of it, /dev/shm, an emptyDir. */
  private static final List<String> FOLDERS =
      List.of("/etc", "/data/made", "/data/made/below", "/dev/shm", "/volume/in");

  @Test
  void watchesOfTheWritableLayerAndOfEmptyDirsAreRestored(@TempDir Path here, @TempDir Path there)
      throws Exception {
    try (EngineLab lab = new EngineLab(1, 96);
        GpuContainer source = GpuContainer.start(spec(lab).withVolume("/volume", here))) {
      source.awaitSteps(2);
      for (String folder : List.of("/data/made/below", "/volume/in")) {
        Files.createDirectories(in(source, folder));
      }
      Files.writeString(in(source, "/data/made/file"), "first");
      OddProcess odd = new OddProcess(source);
      odd.must("inotify " + String.join(" ", FOLDERS) + " /data/made/file");
      // The name under which it was watched is not the one that it has.
      Files.move(in(source, "/data/made/below"), in(source, "/data/made/moved"));
      SealedArtifact artifact =
          lab.published(Asked.of(lab, source).packing("/volume").requiringRestorable()).artifact();
      assertThat(odd.answer("events 0")).isEqualTo("events done");

      try (GpuContainer target =
          GpuContainer.start(spec(lab).withVolume("/volume", there).asHolder())) {
        assertThat(restore(lab, artifact, target, Map.of("/volume", there)))
            .isInstanceOf(RestoreOutcome.Proven.class);
        OddProcess restored = new OddProcess(target);
        assertThat(restored.answer("events 0")).isEqualTo("events done");
        for (String folder : FOLDERS) {
          Files.writeString(in(target, folder.replace("below", "moved")).resolve("new"), "");
        }
        Files.writeString(in(target, "/data/made/file"), "second");
        assertThat(restored.answer("events 6")).isEqualTo("events done");
      }
    }
  }

  /** Otherwise criu would fail in the middle; so another node is tried. */
  @Test
  void aNodeOnWhichOthersUseUpInotifyRefusesTheRestoreByName() throws Exception {
    try (EngineLab lab = new EngineLab(1, 96);
        GpuContainer source = GpuContainer.start(spec(lab));
        ProcWithMemory limits = new ProcWithMemory()) {
      source.awaitSteps(2);
      new OddProcess(source).must("inotify /etc /data");
      SealedArtifact artifact =
          lab.published(Asked.of(lab, source).requiringRestorable()).artifact();
      assertThat(new RestoreImages(artifact.path().resolve("criu")).watches())
          .isEqualTo(new ImageWatches(1, 2));
      limits.available(1L << 40);
      limits.limit("sys/fs/inotify/max_user_instances", 1);
      limits.limit("sys/fs/inotify/max_user_watches", 2);
      NodeParts parts = LabParts.proc(lab, limits.proc());

      try (GpuContainer target = GpuContainer.start(spec(lab).asHolder())) {
        RestoreRequest request =
            EngineLab.restoreRequest(artifact.path(), target, RestoreRequest.Options.defaults());
        // The source has both, and nothing is left for a second workload.
        assertThat(new Restore(parts).run(request, EngineLab.control(), StepListener.NONE))
            .isInstanceOfSatisfying(
                RestoreOutcome.Refused.class,
                refused ->
                    assertThat(refused.unmet())
                        .extracting(FailedRequirement::property)
                        .containsExactly(
                            Property.INOTIFY_INSTANCES.key(), Property.INOTIFY_WATCHES.key()));
        assertThat(lab.restore(artifact.path(), target)).isInstanceOf(RestoreOutcome.Proven.class);
      }
    }
  }

  private static ContainerSpec spec(EngineLab lab) {
    return ContainerSpec.counter(
        lab.gpus(), "--mib", "8", "--interval-ms", "100", "--odd", OddProcess.FIFO);
  }

  private static Path in(GpuContainer container, String path) {
    return Path.of("/proc/" + container.pid() + "/root" + path);
  }

  private static RestoreOutcome restore(
      EngineLab lab, SealedArtifact artifact, GpuContainer target, Map<String, Path> emptyDirs)
      throws InterruptedException {
    RestoreRequest usual =
        EngineLab.restoreRequest(artifact.path(), target, RestoreRequest.Options.defaults());
    return lab.engine()
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
                new TargetVolumes(emptyDirs, Set.of())),
            EngineLab.control(),
            StepListener.NONE);
  }
}
