package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Workloads that could not come back are refused or rolled back, and run on. */
class RefusedWorkloadTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @BeforeEach
  void makeLab() {
    lab = new EngineLab(1, 128);
  }

  @AfterEach
  void closeLab() {
    lab.close();
  }

  private ContainerSpec with(String... more) {
    List<String> arguments =
        new java.util.ArrayList<>(List.of("--mib", "" + MIB, "--interval-ms", "20"));
    arguments.addAll(List.of(more));
    return ContainerSpec.counter(lab.gpus(), arguments.toArray(String[]::new));
  }

  @Test
  void managedMemoryIsSaidLateAndRolledBack() throws Exception {
    try (GpuContainer source = GpuContainer.start(with("--managed"))) {
      source.awaitSteps(2);
      assertThat(lab.checkpoint(Asked.of(lab, source)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
                assertThat(failed.message()).contains("managed memory");
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
              });
      runsOn(source);
    }
  }

  @Test
  void ncclBetweenProcessesIsRefusedBeforeAnythingIsFrozen() throws Exception {
    try (GpuContainer source = GpuContainer.start(with("--nccl", "--fork", "1"))) {
      source.awaitSteps(2);
      assertThat(lab.checkpoint(Asked.of(lab, source)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .singleElement()
                      .satisfies(
                          unmet -> assertThat(unmet.property()).isEqualTo("NCCL peer-to-peer")));
      runsOn(source);
    }
  }

  @Test
  void ncclWithoutPeerToPeerIsTaken() throws Exception {
    ContainerSpec spec =
        with("--nccl", "--fork", "1")
            .withEnvironment(Map.of("NCCL_P2P_DISABLE", "1", "NCCL_CUMEM_HOST_ENABLE", "0"));
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      lab.published(Asked.of(lab, source));
      runsOn(source);
    }
  }

  @Test
  void aContainerWithoutAGpuProcessIsRefused() throws Exception {
    try (GpuContainer holder = GpuContainer.start(with().asHolder())) {
      assertThat(lab.checkpoint(Asked.of(lab, holder)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused -> assertThat(refused.unmet().toString()).contains("CUDA process"));
      lab.assertNothingLeft();
    }
  }

  private void runsOn(GpuContainer source) {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
