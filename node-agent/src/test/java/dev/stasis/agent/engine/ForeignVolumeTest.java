package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.layer.TargetVolumes;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.SmallTmpfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A restore replaces the files of the pod's own volumes, and of no other volume. */
class ForeignVolumeTest {
  private static final String SCRATCH = "/data";

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static ContainerSpec spec;

  @SuppressWarnings("NullAway.Init")
  private static Path artifact;

  @BeforeAll
  static void saveAWorkloadWithAnEmptyDir() throws Exception {
    lab = new EngineLab(1, 96);
    spec = ContainerSpec.counter(lab.gpus(), "--mib", "16", "--interval-ms", "100");
    Path scratch = volume("scratch", "of the workload");
    try (GpuContainer source = GpuContainer.start(spec.withVolume(SCRATCH, scratch))) {
      source.awaitSteps(2);
      CheckpointRequest asked = Asked.of(lab, source).request();
      CheckpointOutcome outcome =
          lab.engine().checkpoint().run(packing(asked), EngineLab.control(), StepListener.NONE);
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
      artifact = ((CheckpointOutcome.Published) outcome).artifact().path();
    }
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  @Test
  void aPersistentVolumeInPlaceOfAnEmptyDirIsRefusedAndKeepsItsFiles() throws Exception {
    Path claim = volume("claim", "a year of results");
    try (GpuContainer target = GpuContainer.start(spec.asHolder().withVolume(SCRATCH, claim))) {

      RestoreOutcome outcome = restore(target, new TargetVolumes(Map.of(), Set.of(SCRATCH)));

      assertRefused(outcome, "volume /data");
      assertThat(claim.resolve("file")).hasContent("a year of results");
    }
  }

  @Test
  void aVolumeThatIsNotTheEmptyDirOfThatNameIsRefusedAndKeepsItsFiles() throws Exception {
    Path claim = volume("other-claim", "a year of results");
    Path emptyDir = volume("unused", "x");
    try (GpuContainer target = GpuContainer.start(spec.asHolder().withVolume(SCRATCH, claim))) {

      RestoreOutcome outcome =
          restore(target, new TargetVolumes(Map.of(SCRATCH, emptyDir), Set.of()));

      assertRefused(outcome, "volume /data");
      assertThat(claim.resolve("file")).hasContent("a year of results");
    }
  }

  @Test
  void theEmptyDirOfTheTargetTakesTheFilesOfTheSource() throws Exception {
    Path fresh = volume("fresh", "of an init container");
    Files.writeString(fresh.resolve("older"), "x");
    try (GpuContainer target = GpuContainer.start(spec.asHolder().withVolume(SCRATCH, fresh))) {

      RestoreOutcome outcome = restore(target, new TargetVolumes(Map.of(SCRATCH, fresh), Set.of()));

      assertThat(outcome).isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(2);
      assertThat(fresh.resolve("file")).hasContent("of the workload");
      assertThat(fresh.resolve("older")).doesNotExist();
    }
  }

  @Test
  void aVolumeOfTheUsersInPlaceOfTheSharedMemoryIsRefusedAndKeepsItsFiles() throws Exception {
    Path fresh = volume("fresh-beside-shm", "x");
    try (SmallTmpfs other = SmallTmpfs.ofMib(1);
        GpuContainer target =
            GpuContainer.start(
                spec.asHolder()
                    .withVolume(SCRATCH, fresh)
                    .withVolume("/dev/shm", other.file("")))) {
      Files.writeString(other.file("file"), "of another program");

      RestoreOutcome outcome =
          restore(target, new TargetVolumes(Map.of(SCRATCH, fresh), Set.of("/dev/shm")));

      assertRefused(outcome, "volume /dev/shm");
      assertThat(other.file("file")).hasContent("of another program");
    }
  }

  private static CheckpointRequest packing(CheckpointRequest asked) {
    return new CheckpointRequest(
        asked.id(),
        asked.name(),
        asked.owner(),
        asked.namespace(),
        asked.container(),
        asked.store(),
        asked.after(),
        asked.options(),
        asked.image(),
        Set.of(SCRATCH));
  }

  private static RestoreOutcome restore(GpuContainer target, TargetVolumes volumes)
      throws InterruptedException {
    RestoreRequest asked =
        EngineLab.restoreRequest(artifact, target, RestoreRequest.Options.defaults());
    return lab.engine()
        .restore()
        .run(
            new RestoreRequest(
                asked.id(),
                asked.owner(),
                asked.namespace(),
                asked.artifact(),
                asked.digest(),
                asked.target(),
                asked.options(),
                volumes),
            EngineLab.control(),
            StepListener.NONE);
  }

  private static void assertRefused(RestoreOutcome outcome, String property) {
    assertThat(outcome).isInstanceOf(RestoreOutcome.Refused.class);
    assertThat(((RestoreOutcome.Refused) outcome).unmet())
        .anySatisfy(
            unmet -> {
              assertThat(unmet.property()).isEqualTo(property);
              assertThat(unmet.wanted()).isEqualTo("an emptyDir of the target's pod");
            });
  }

  private static Path volume(String name, String content) throws IOException {
    Path folder = Files.createDirectory(lab.folder().resolve(name));
    Files.writeString(folder.resolve("file"), content);
    return folder;
  }
}
