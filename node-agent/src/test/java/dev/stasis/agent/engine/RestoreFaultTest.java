package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the driver, criu, the mover or the agent do to a restore: either the workload is proven to
 * run, or nothing of it runs and it comes back in another container.
 */
class RestoreFaultTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static ContainerSpec spec;

  @SuppressWarnings("NullAway.Init")
  private static CheckpointOutcome.Published published;

  @SuppressWarnings("NullAway.Init")
  private static List<String> before;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer target;

  @BeforeAll
  static void save() throws InterruptedException {
    lab = new EngineLab(1, 160);
    spec =
        ContainerSpec.counter(
            lab.gpus(), "--mib", "" + MIB, "--interval-ms", "20", "--fork", "1", "--threads", "1");
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      published = lab.published(Asked.of(lab, source));
      before = source.lines();
    }
  }

  @AfterAll
  static void close() {
    lab.close();
  }

  @BeforeEach
  void startTarget() {
    target = GpuContainer.start(spec.asHolder());
  }

  @AfterEach
  void stopTarget() {
    target.close();
  }

  @ParameterizedTest
  @CsvSource({
    "restore, error 2 at=before",
    "restore, error 999",
    "restore, failed",
    "restore, outofstep",
    "restore, hang at=before",
    "unlock, error 999",
    "unlock, failed",
  })
  void theDriverFails(String call, String fault) throws Exception {
    lab.gpus().fault(call, fault);
    Restore restore = new Restore(LabParts.patience(lab, Duration.ofSeconds(2)));
    assertThat(EngineLab.restore(restore, published.artifact().path(), target))
        .isInstanceOf(RestoreOutcome.Failed.class);
    nothingRunsAndItComesBackElsewhere();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 15, 30})
  void theMoverIsKilled(int millis) throws Exception {
    NodeParts parts =
        LabParts.mover(
            lab,
            new WrappedProgram(lab.folder())
                .killedInMove("stasis-runtime", EngineLab.runtime(), "in", millis));
    provenOrNothing(EngineLab.restore(new Restore(parts), published.artifact().path(), target));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 10, 20, 40, 60, 90})
  void criuIsKilled(int millis) throws Exception {
    CompletableFuture<Void> killed =
        CompletableFuture.runAsync(
            RestoreFaultTest.this::killCriu,
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
    RestoreOutcome outcome = lab.restore(published.artifact().path(), target);
    killed.join();
    provenOrNothing(outcome);
  }

  private void killCriu() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(2))
        .until(
            () ->
                lab.parts()
                        .journal()
                        .read(target.id())
                        .filter(w -> !w.children().isEmpty())
                        .isPresent()
                    || target.holderFolder().resolve("restored").toFile().exists());
    Optional<Work> work = lab.parts().journal().read(target.id());
    work.stream()
        .flatMap(now -> now.children().stream())
        .flatMap(child -> ProcessHandle.of(child.pid()).stream())
        .flatMap(ProcessHandle::children)
        .forEach(ProcessHandle::destroyForcibly);
  }

  @ParameterizedTest
  @ValueSource(strings = {"unpack", "criu-restore", "fill", "continue", "gpu-restore", "unlock"})
  void theAgentIsKilledAfter(String step) throws Exception {
    ChildAgent.dying(lab, published.artifact().path().toString(), target, "AFTER", step);
    assertThat(lab.engine().thaw().inHand()).hasSize(1);
    assertThat(lab.engine().thaw().run(target.id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended -> assertThat(ended.state().kind()).isEqualTo(SourceState.Kind.GONE));
    nothingRunsAndItComesBackElsewhere();
  }

  private void provenOrNothing(RestoreOutcome outcome) throws InterruptedException {
    if (outcome instanceof RestoreOutcome.Proven) {
      target.awaitSteps(3);
      target.verify(MIB, before);
      lab.assertNothingLeft();
    } else {
      assertThat(outcome).isInstanceOf(RestoreOutcome.Failed.class);
      nothingRunsAndItComesBackElsewhere();
    }
  }

  private void nothingRunsAndItComesBackElsewhere() throws InterruptedException {
    if (lab.parts().containers().resolve(target.id()) instanceof Resolution.Found found) {
      assertThat(lab.parts().tree().list(found.container()).living())
          .allMatch(process -> process.equals(found.container().init()));
    }
    assertThat(target.holderFolder().resolve("restored")).doesNotExist();
    lab.assertNothingLeft();
    try (GpuContainer other = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(published.artifact().path(), other))
          .isInstanceOf(RestoreOutcome.Proven.class);
      other.awaitSteps(3);
      other.verify(MIB, before);
    }
  }
}
