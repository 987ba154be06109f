package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.OddProcess;
import dev.stasis.agent.testing.Sh;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Workloads that could not come back are refused or rolled back, and run on. */
class RefusedWorkloadTest {

  private static final int MIB = 8;

  private static final Map<String, String> P2P_OFF =
      Map.of("NCCL_P2P_DISABLE", "1", "NCCL_CUMEM_HOST_ENABLE", "0", "NCCL_NVLS_ENABLE", "0");

  /** Milliseconds are usual; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

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
        new java.util.ArrayList<>(List.of("--mib", "" + MIB, "--interval-ms", "100"));
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
    refused("NCCL peer-to-peer", "/dev/shm/nccl-", with("--nccl", "--fork", "1"));
  }

  @Test
  void ranksThatMayUseNvlsAreRefused() throws Exception {
    Map<String, String> open =
        Map.of("NCCL_P2P_DISABLE", "1", "NCCL_CUMEM_HOST_ENABLE", "0", "NCCL_NVLS_ENABLE", "1");
    refused("NCCL NVLS", "/dev/shm/nccl-", with("--nccl", "--fork", "1").withEnvironment(open));
  }

  @ParameterizedTest
  @CsvSource({"pipe, a pipe", "unix, a Unix socket", "tcp, a connection (tcp)", "shm, /dev/zero"})
  void aChannelBetweenGpuProcessesIsRefusedBeforeTheFreeze(String link, String found)
      throws Exception {
    refused("CUDA memory between processes", found, with("--link", link, "--fork", "1"));
  }

  @Test
  void aChannelOpenedAfterTheInspectionIsFoundWhileTheyAreLocked() throws Exception {
    try (GpuContainer source = GpuContainer.start(with("--fork", "1"))) {
      source.awaitSteps(2);
      List<Integer> both = new ArrayList<>(List.of(source.pid()));
      new ProcFs().children(source.pid()).forEach(child -> both.add(child.pid()));
      both.forEach(pid -> lab.gpus().fault("lock." + pid, "hold at=before"));
      FutureTask<CheckpointOutcome> outcome =
          new FutureTask<>(() -> lab.checkpoint(Asked.of(lab, source)));
      new Thread(outcome).start();
      await()
          .atMost(LIMIT)
          .until(() -> both.stream().allMatch(pid -> lab.gpus().isHeld("lock." + pid)));
      both.forEach(pid -> new Sh().must("kill", "-USR1", "" + pid));
      await().atMost(LIMIT).until(() -> both.stream().allMatch(RefusedWorkloadTest::mapsASegment));
      both.forEach(pid -> lab.gpus().release("lock." + pid));
      assertThat(outcome.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.reason()).isEqualTo(Reason.REFUSED);
                assertThat(failed.message()).contains("/dev/shm/nccl-");
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
              });
      runsOn(source);
    }
  }

  private static boolean mapsASegment(int pid) {
    return new ProcFs().maps(pid).stream().anyMatch(map -> map.path().contains("/nccl-"));
  }

  @Test
  void theUserMaySayThatConnectedProcessesShareNoGpuMemory() throws Exception {
    try (GpuContainer source = GpuContainer.start(with("--link", "unix", "--fork", "1"))) {
      source.awaitSteps(2);
      lab.published(Asked.of(lab, source).nothingShared());
      runsOn(source);
    }
  }

  @Test
  void aLauncherThatOnlyHasTheLibrariesIsNoSecondRank() throws Exception {
    try (GpuContainer source = GpuContainer.start(with("--launcher", "--nccl", "--link", "tcp"))) {
      source.awaitSteps(2);
      lab.published(Asked.of(lab, source));
      runsOn(source);
    }
  }

  @Test
  void twoIndependentProcessesAreTaken() throws Exception {
    try (GpuContainer source = GpuContainer.start(with("--fork", "1"))) {
      source.awaitSteps(2);
      lab.published(Asked.of(lab, source));
      runsOn(source);
    }
  }

  @Test
  void ranksWhoseNcclSharesNothingOfTheDriverAreTaken() throws Exception {
    ContainerSpec spec = with("--nccl", "--fork", "1").withEnvironment(P2P_OFF);
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      lab.published(Asked.of(lab, source));
      runsOn(source);
    }
  }

  @Test
  void aRankOfAJobThatSpansPodsIsRefused() throws Exception {
    ContainerSpec spec =
        with("--odd", OddProcess.FIFO)
            .withCapabilities("CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_SYS_PTRACE")
            .withEnvironment(Map.of("WORLD_SIZE", "2", "LOCAL_WORLD_SIZE", "1"));
    try (GpuContainer source = GpuContainer.start(spec)) {
      OddProcess odd = new OddProcess(source);
      odd.giveAddresses();
      source.awaitSteps(2);
      // An address of no interface stands for another pod.
      odd.must("pair 10.98.7.6");
      refused("distributed job", "WORLD_SIZE=2, 1 of them here", source);
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

  @Test
  void aStoppedProcessThatUsesAGpuIsRefused() throws Exception {
    try (GpuContainer source = GpuContainer.start(with())) {
      source.awaitSteps(2);
      new Sh().must("kill", "-STOP", "" + source.pid());
      assertThat(lab.checkpoint(Asked.of(lab, source)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .extracting(FailedRequirement::property)
                      .contains(Requirement.STOPPED.property()));
      new Sh().must("kill", "-CONT", "" + source.pid());
      runsOn(source);
    }
  }

  private void refused(String property, String found, ContainerSpec spec) throws Exception {
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      refused(property, found, source);
    }
  }

  private void refused(String property, String found, GpuContainer source) throws Exception {
    assertThat(lab.checkpoint(Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused ->
                assertThat(refused.unmet())
                    .singleElement()
                    .satisfies(
                        unmet -> {
                          assertThat(unmet.property()).isEqualTo(property);
                          assertThat(unmet.found()).contains(found);
                        }));
    runsOn(source);
  }

  private void runsOn(GpuContainer source) {
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
