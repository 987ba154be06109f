package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The driver worker is killed inside each call: the driver's own work goes on, and so does ours.
 */
class KilledWorkerTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer source;

  @BeforeEach
  void start() {
    lab = new EngineLab(1, 96);
    source =
        GpuContainer.start(
            ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "20"));
    source.awaitSteps(2);
  }

  @AfterEach
  void stop() {
    source.close();
    lab.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"lock", "checkpoint", "restore", "unlock"})
  void theWorkloadRunsOn(String call) throws Exception {
    lab.gpus().fault(call, "slow 2000");
    CompletableFuture<Void> killed =
        CompletableFuture.runAsync(
            () -> {
              Awaitility.await()
                  .atMost(Duration.ofSeconds(60))
                  .pollInterval(Duration.ofMillis(5))
                  .until(
                      () ->
                          lab.worker().inFlight().stream()
                              .anyMatch(inside -> inside.call().equalsIgnoreCase(call)));
              ProcessHandle.of(lab.worker().pid().orElseThrow())
                  .ifPresent(ProcessHandle::destroyForcibly);
            });
    CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, source));
    killed.join();
    if (outcome instanceof CheckpointOutcome.Failed failed) {
      assertThat(failed.source().kind())
          .as(outcome.toString())
          .isIn(SourceState.Kind.RUNNING, SourceState.Kind.FROZEN);
      if (failed.source().kind() == SourceState.Kind.FROZEN) {
        lab.thaw(source);
      }
    } else {
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    }
    lab.assertNothingLeft();
    source.awaitSteps(3);
    source.verify(MIB);
    lab.published(Asked.of(lab, source));
    source.awaitSteps(2);
    source.verify(MIB);
  }
}
