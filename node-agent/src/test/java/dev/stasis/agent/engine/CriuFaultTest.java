package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A criu that fails, hangs or is killed at any moment of a dump, with and without dropped regions,
 * costs the artifact and not the workload.
 */
class CriuFaultTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 128);
    source = workload();
  }

  private static GpuContainer workload() {
    GpuContainer started =
        GpuContainer.start(
            ContainerSpec.counter(
                lab.gpus(),
                "--mib",
                "" + MIB,
                "--interval-ms",
                "100",
                "--fork",
                "1",
                "--threads",
                "2",
                "--deleted-file",
                "--busy-writer"));
    started.awaitSteps(3);
    return started;
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  /** A dump takes some 60 ms here: moments from before it has begun until it may be done. */
  private static final List<Integer> MOMENTS = List.of(1, 5, 10, 15, 20, 30, 40, 50, 70, 100);

  private static final List<DataPathChoice> PATHS = List.of(DataPathChoice.values());

  static Stream<Arguments> eachMomentOnEachPath() {
    return MOMENTS.stream()
        .flatMap(millis -> PATHS.stream().map(path -> Arguments.of(millis, path)));
  }

  static Stream<Arguments> eachMomentOnOnePath() {
    return IntStream.range(0, MOMENTS.size())
        .mapToObj(i -> Arguments.of(MOMENTS.get(i), PATHS.get(i % PATHS.size())));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("eachMomentOnEachPath")
  void aCriuThatIsKilledOnAnyPathLeavesTheWorkloadWhole(int millis, DataPathChoice path)
      throws Exception {
    aCriuThatIsKilledLeavesTheWorkloadWhole(millis, path);
  }

  /** The threads have criu's registers at many of these moments; the undo puts their own back. */
  @ParameterizedTest
  @MethodSource("eachMomentOnOnePath")
  void aCriuThatIsKilledLeavesTheWorkloadWhole(int millis, DataPathChoice path) throws Exception {
    WrappedProgram.Killed criu =
        new WrappedProgram(lab.folder()).killedAfter("criu", EngineLab.criu(), millis);
    CheckpointOutcome outcome =
        EngineLab.checkpoint(
            new Checkpoint(LabParts.criu(lab, criu.program())), Asked.of(lab, source).by(path));
    // A late moment may come after the end of the dump; an early one must not.
    assertThat(criu.wasHit() || millis > 10).as("a criu killed after %d ms", millis).isTrue();
    if (!mayBeKilled() && !survived(outcome)) {
      anotherWorkload();
      return;
    }
    if (criu.wasHit()) {
      failedInTheDump(outcome, "criu dump: ");
    } else {
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    }
    runsOn();
  }

  /** Only the one that bin/setup builds; another may end the workload by its own death. */
  private static boolean mayBeKilled() {
    return new Sh()
        .must(EngineLab.criu().toString(), "--version")
        .lines()
        .anyMatch(line -> line.matches("GitID: stasis-\\d+"));
  }

  private static boolean survived(CheckpointOutcome outcome) {
    return !(outcome instanceof CheckpointOutcome.Failed failed)
        || failed.source().kind() == SourceState.Kind.RUNNING;
  }

  /** In place of one that has ended, of which nothing is left in hand after a thaw. */
  private static void anotherWorkload() throws InterruptedException {
    source.end();
    if (!lab.engine().thaw().inHand().isEmpty()) {
      lab.engine().thaw().run(source.id(), StepListener.NONE);
    }
    lab.assertNothingLeft();
    source.close();
    source = workload();
  }

  @Test
  void aCriuThatFailsIsToldByItsLastLine() throws Exception {
    Path criu = new WrappedProgram(lab.folder()).failing("criu");
    CheckpointOutcome outcome =
        EngineLab.checkpoint(new Checkpoint(LabParts.criu(lab, criu)), Asked.of(lab, source));
    failedInTheDump(outcome, "fails");
    runsOn();
  }

  /** criu leaves connections in a mode in which they lose what they receive. */
  @Test
  void aWorkloadWhoseConnectionsCannotBeReleasedStaysFrozenUntilTheyCan() throws Exception {
    Path runtime =
        new WrappedProgram(lab.folder()).failingAt("runtime", EngineLab.runtime(), "guard calm");
    CheckpointOutcome outcome =
        EngineLab.checkpoint(new Checkpoint(LabParts.runtime(lab, runtime)), Asked.of(lab, source));
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.FROZEN);
              assertThat(failed.source().detail()).contains("TCP connections");
            });
    assertThat(lab.engine().thaw().inHand()).hasSize(1);
    lab.thaw(source);
    runsOn();
  }

  @Test
  void anAgentThatIsStoppedWhileCriuHangsUndoesTheFreezeFirst() throws Exception {
    Path criu = new WrappedProgram(lab.folder()).hanging("criu");
    CountDownLatch dumping = new CountDownLatch(1);
    ExecutorService operation = Executors.newSingleThreadExecutor();
    Future<CheckpointOutcome> outcome =
        operation.submit(
            () ->
                new Checkpoint(LabParts.criu(lab, criu))
                    .run(
                        Asked.of(lab, source).request(),
                        EngineLab.control(),
                        (step, done, total) -> {
                          if (step.equals("dump")) {
                            dumping.countDown();
                          }
                        }));
    dumping.await();
    operation.shutdownNow();
    failedInTheDump(outcome.get(), "the agent is stopping");
    runsOn();
  }

  private static void failedInTheDump(CheckpointOutcome outcome, String message) {
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Failed.class,
            failed -> {
              assertThat(failed.step()).isEqualTo("dump");
              assertThat(failed.message()).contains(message);
              assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
            });
  }

  private static void runsOn() {
    lab.assertNothingLeft();
    assertThat(source.namesBelowUpper()).noneMatch(name -> name.startsWith("link_remap"));
    source.awaitSteps(3);
    source.verify(MIB);
  }
}
