package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.process.MappingUse;
import dev.stasis.agent.process.ProcessStat;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.Region;
import dev.stasis.artifact.RegionSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A restore leaves the program's own memory with the pages that the program asked for. */
class HugePageAdviceTest {

  private static final int MIB = 16;

  @Test
  void theProgramsOwnMemoryIsNotAdvisedToBeOfHugePages() throws Exception {
    try (EngineLab lab = new EngineLab(1, 128)) {
      ContainerSpec spec =
          ContainerSpec.counter(
              lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--busy-writer", "--loader");
      ArtifactStage.SealedArtifact artifact;
      List<String> before;
      try (GpuContainer source = GpuContainer.start(spec)) {
        source.awaitSteps(3);
        artifact = lab.published(Asked.of(lab, source)).artifact();
        before = source.lines();
        assertThat(advised(lab, source)).isEmpty();
      }
      List<RegionSet> sets = artifact.manifest().regions();
      assertThat(sets.stream().flatMap(HugePageAdviceTest::host)).isNotEmpty();
      // The device memory alone is the driver's again after its Restore.
      assertThat(sets).anyMatch(set -> host(set).count() < set.regions().size());

      try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
        assertThat(lab.restore(artifact.path(), target)).isInstanceOf(RestoreOutcome.Proven.class);

        assertThat(advised(lab, target)).isEmpty();
        target.awaitSteps(3);
        target.verify(MIB, before);
      }
    }
  }

  private static Stream<Region> host(RegionSet set) {
    return Objects.requireNonNull(set.host()).stream();
  }

  private static List<MappingUse> advised(EngineLab lab, GpuContainer container) {
    Resolution.Found found = (Resolution.Found) lab.parts().containers().resolve(container.id());
    return lab.parts().tree().list(found.container()).members().stream()
        .map(ProcessStat::id)
        .flatMap(process -> lab.parts().proc().smaps(process.pid()).stream())
        .filter(use -> use.vmFlags().contains("hg"))
        .toList();
  }
}
