package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ContainerResolver;
import dev.stasis.agent.container.Freezer;
import dev.stasis.agent.container.Resolution;
import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An agent is killed at every step of a checkpoint, on the way in and on the way back. Another one
 * brings the workload back from the journal alone, and nothing is left behind.
 */
class KilledAgentTest {

  /** A call is held within milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  @SuppressWarnings("NullAway.Init")
  private static CountingLab counting;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    counting = CountingLab.start();
    lab = counting.lab();
    source = counting.source();
  }

  @AfterAll
  static void stop() {
    counting.close();
  }

  /** After a step is before the next one; its middle is what its own children are tested for. */
  static Stream<Arguments> everyStep() {
    return steps("AFTER");
  }

  static Stream<Arguments> everyUndo() {
    return steps("BEFORE_UNDO");
  }

  private static Stream<Arguments> steps(String moment) {
    return Checkpoint.steps().stream().map(step -> Arguments.of(moment, step.name()));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyUndo")
  void theNextAgentThawsTheWorkloadAfterADeathBeforeAnyUndo(String moment, String step)
      throws Exception {
    theNextAgentThawsTheWorkload(moment, step);
  }

  /** A step that was undone is undone again: half of them show it. */
  @ParameterizedTest
  @CsvSource({
    "BEFORE_UNDO, lock",
    "BEFORE_UNDO, gpu-checkpoint",
    "BEFORE_UNDO, move",
    "BEFORE_UNDO, dump"
  })
  void theNextAgentThawsTheWorkloadAfterADeathBeforeAnUndo(String moment, String step)
      throws Exception {
    theNextAgentThawsTheWorkload(moment, step);
  }

  @ParameterizedTest
  @MethodSource("everyStep")
  void theNextAgentThawsTheWorkload(String moment, String step) throws Exception {
    ChildAgent.dying(lab, DataPathChoice.MOVER.name(), source, moment, step);
    thaw();
  }

  /** In the low-memory mode the stage holds the only copy at these moments. */
  @Tag("long")
  @ParameterizedTest
  @CsvSource({"AFTER, move", "AFTER, layer"})
  void theNextAgentThawsAWorkloadWhoseMemoryIsOnlyInTheStageAtAnyOtherMoment(
      String moment, String step) throws Exception {
    theNextAgentThawsAWorkloadWhoseMemoryIsOnlyInTheStage(moment, step);
  }

  @ParameterizedTest
  @CsvSource({"DURING, dump", "BEFORE_UNDO, move"})
  void theNextAgentThawsAWorkloadWhoseMemoryIsOnlyInTheStage(String moment, String step)
      throws Exception {
    ChildAgent.dying(lab, DataPathChoice.LOW_MEMORY.name(), source, moment, step);
    thaw();
  }

  @Tag("long")
  @Test
  void theNextAgentThawsTheWorkloadAfterADeathDuringTheHash() throws Exception {
    theNextAgentThawsTheWorkloadAfterADeathDuringAStep("DURING", "hash");
  }

  @ParameterizedTest
  @CsvSource({"DURING, lock", "DURING, dump", "DURING, publish"})
  void theNextAgentThawsTheWorkloadAfterADeathDuringAStep(String moment, String step)
      throws Exception {
    ChildAgent.dying(lab, DataPathChoice.MOVER.name(), source, moment, step);
    thaw();
  }

  /** A tree is frozen for the moment in which its signals are sent; an agent may die in it. */
  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"stop", "dump"})
  void theNextAgentThawsACgroupFrozenAtAnyOtherStep(String step) throws Exception {
    theNextAgentThawsAFrozenCgroup(step);
  }

  @ParameterizedTest
  @ValueSource(strings = "move")
  void theNextAgentThawsAFrozenCgroup(String step) throws Exception {
    Container container =
        ((Resolution.Found) new ContainerResolver(new ProcFs()).resolve(source.id())).container();
    Optional<Freezer> freezer = Freezer.of(container);
    assumeTrue(freezer.isPresent(), "needs a cgroup that can be frozen");
    ChildAgent.dying(lab, DataPathChoice.MOVER.name(), source, "AFTER", step);
    // It freezes at once.
    assertThat(freezer.orElseThrow().freeze(Duration.ofSeconds(60))).isTrue();

    thaw();
    assertThat(freezer.orElseThrow().isFrozen()).isFalse();
  }

  /** The driver worker outlives its agent, and its Lock waits in the driver for a kernel. */
  @Test
  void aLockThatComesAfterTheDeathOfItsAgentIsUndone() throws Exception {
    lab.gpus().fault("lock", "hold at=before");
    Process agent = ChildAgent.unharmed(lab, DataPathChoice.MOVER.name(), source);
    Awaitility.await().atMost(LIMIT).until(() -> lab.gpus().isHeld("lock"));
    agent.destroyForcibly().onExit().join();
    // Late enough for the next agent to see the process running first.
    CompletableFuture<Void> late =
        CompletableFuture.runAsync(
            () -> lab.gpus().release("lock"),
            CompletableFuture.delayedExecutor(3, TimeUnit.SECONDS));

    lab.engine().thaw().run(source.id(), StepListener.NONE);
    late.join();
    counting.runsOn();
    lab.assertNothingLeft();
  }

  /** Meanwhile the driver reports the state that the process will reach. */
  @ParameterizedTest
  @ValueSource(strings = {"checkpoint", "restore"})
  void aCopyThatGoesOnAfterTheDeathOfAgentAndWorkerIsWaitedFor(String call) throws Exception {
    lab.gpus().fault(call, "hold");
    Process agent = ChildAgent.unharmed(lab, DataPathChoice.MOVER.name(), source);
    Awaitility.await().atMost(LIMIT).until(() -> lab.gpus().isHeld(call));
    List<ProcessHandle> workers = agent.toHandle().children().toList();
    agent.destroyForcibly().onExit().join();
    assertThat(workers).isNotEmpty();
    workers.forEach(ProcessHandle::destroyForcibly);
    // Late enough for the next agent to see that state.
    CompletableFuture<Void> late =
        CompletableFuture.runAsync(
            () -> lab.gpus().release(call), CompletableFuture.delayedExecutor(3, TimeUnit.SECONDS));

    assertThat(lab.engine().thaw().run(source.id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended ->
                assertThat(ended.state().kind())
                    .as(ended.state().detail())
                    .isEqualTo(SourceState.Kind.RUNNING));
    late.join();
    counting.runsOn();
    lab.assertNothingLeft();
  }

  @Tag("jvm")
  @Test
  void twoAgentsNeverActAtOnce() throws Exception {
    try (ChildAgent other =
        ChildAgent.staying(lab, DataPathChoice.MOVER.name(), source, "AFTER", "stop")) {
      assertThat(lab.checkpoint(Asked.of(lab, source)))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet())
                      .hasSize(1)
                      .first()
                      .asString()
                      .contains("is running on"));
      assertThat(lab.engine().thaw().run(source.id(), StepListener.NONE))
          .isInstanceOfSatisfying(
              ThawOutcome.NotFound.class,
              busy -> assertThat(busy.why()).contains("an operation of an agent"));
    }
    assertThat(lab.checkpoint(Asked.of(lab, source)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused -> assertThat(refused.unmet().toString()).contains("thaw it first"));
    thaw();
  }

  private static void thaw() throws InterruptedException {
    assertThat(lab.engine().thaw().inHand()).hasSize(1);
    lab.thaw(source);
    counting.runsOn();
  }
}
