package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuntimeMountTest {

  private static final int MIB = 8;

  /** The next node's container runtime may not make it: the restore would be refused there. */
  @Test
  void aMountThatOnlyTheContainerRuntimeMakesKeepsTheWorkloadInItsPod(@TempDir Path site)
      throws Exception {
    try (EngineLab lab = new EngineLab(1, 96);
        GpuContainer source =
            GpuContainer.start(
                ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100")
                    .withVolume("/opt/site", site))) {
      source.awaitSteps(2);
      Asked ofTheRuntime = Asked.of(lab, source).mounting(Map.of());
      assertThat(lab.checkpoint(ofTheRuntime.after(After.EVICT)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .extracting(FailedRequirement::toString)
                      .singleElement()
                      .asString()
                      .startsWith(Requirement.RUNTIME_MOUNT.property())
                      .endsWith("/opt/site"));
      lab.assertNothingLeft();
      source.awaitSteps(2);
      assertThat(lab.published(ofTheRuntime).artifact().manifest().notPortable()).hasSize(1);

      CheckpointRequest ofThePod = Asked.of(lab, source).requiringRestorable().request();
      assertThat(lab.engine().checkpoint().inspect(ofThePod).notPortable()).isEmpty();
      source.awaitSteps(2);
      source.verify(MIB);
    }
  }
}
