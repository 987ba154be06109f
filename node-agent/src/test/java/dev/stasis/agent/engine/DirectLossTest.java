package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

/**
 * On the direct data path the keeper, the second holder or the agent dies at a step of a
 * checkpoint, or a step fails: the same workload bears all of it and counts on with right numbers.
 * {@link DirectStatesTest} kills them after the commands between them.
 */
class DirectLossTest {

  /** A process that was killed is gone in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static DirectLab direct;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 256);
    direct = new DirectLab(lab);
    source = GpuContainer.start(direct.counter("--fork", "1"));
    source.awaitSteps(3);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  static Stream<Arguments> everyMoment() {
    return Checkpoint.steps().stream()
        .map(Step::name)
        .flatMap(
            step -> Stream.of(Moment.AFTER, Moment.BEFORE_UNDO).map(at -> Arguments.of(at, step)));
  }

  static Stream<Arguments> everyKeeper() {
    return Stream.of("serve", "hold")
        .flatMap(
            victim -> everyMoment().map(row -> Arguments.of(victim, row.get()[0], row.get()[1])));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyKeeper")
  void aKilledKeeperLosesNothingAtAnyMoment(String victim, Moment moment, String step)
      throws Exception {
    aKilledKeeperLosesNothing(victim, moment, step);
  }

  /** Between the commands to a keeper its state is the one of the last command. */
  @ParameterizedTest
  @CsvSource({
    "serve, AFTER, gpu-checkpoint",
    "serve, BEFORE_UNDO, dump",
    "hold, AFTER, dump",
    "hold, BEFORE_UNDO, offload"
  })
  void aKilledKeeperLosesNothing(String victim, Moment moment, String step) throws Exception {
    CheckpointOutcome outcome =
        run(
            source,
            (at, name) -> {
              if (at == moment && name.equals(step)) {
                direct.kill(victim);
                Awaitility.await().atMost(LIMIT).until(() -> isReplaced(victim));
              }
            });
    // Without its snapshot there is no artifact, but the workload is there.
    if (outcome instanceof CheckpointOutcome.Failed failed) {
      assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.RUNNING);
    } else {
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    }
    direct.assertUnharmed(source);
  }

  /** A second holder is replaced by the keeper; a keeper by whoever needs one. */
  private static boolean isReplaced(String victim) {
    return victim.equals("serve")
        ? direct.keepers("serve").isEmpty()
        : direct.keepers("hold").size() == 1;
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyMoment")
  void aFailedStepLosesNothingAtAnyMoment(Moment moment, String step) throws Exception {
    aFailedStepLosesNothing(moment, step);
  }

  /** {@link FailingStepTest} covers the other steps; only the offload needs the direct path. */
  @ParameterizedTest
  @CsvSource({"AFTER, offload", "BEFORE_UNDO, offload", "AFTER, dump", "BEFORE_UNDO, copied"})
  void aFailedStepLosesNothing(Moment moment, String step) throws Exception {
    CheckpointOutcome outcome = run(source, HookedStep.failing(moment, step));
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Failed.class);
    CheckpointOutcome.Failed failed = (CheckpointOutcome.Failed) outcome;
    if (moment == Moment.AFTER) {
      assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.RUNNING);
    } else {
      assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.FROZEN);
      lab.thaw(source);
    }
    direct.assertUnharmed(source);
  }

  @Tag("long")
  @ParameterizedTest
  @CsvSource({"AFTER, offload", "AFTER, gpu-checkpoint", "AFTER, copied", "BEFORE_UNDO, stop"})
  void aKilledAgentLosesNothingAtAnyOtherMoment(String moment, String step) throws Exception {
    aKilledAgentLosesNothing(moment, step);
  }

  @ParameterizedTest
  @CsvSource({"AFTER, dump", "BEFORE_UNDO, offload", "DURING, publish"})
  void aKilledAgentLosesNothing(String moment, String step) throws Exception {
    ChildAgent.dying(lab, DataPathChoice.MOVER.name(), source, moment, step);
    lab.thaw(source);
    direct.assertUnharmed(source);
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyMoment")
  void aKilledWorkloadLeavesNothingOnTheGpuAtAnyMoment(Moment moment, String step)
      throws Exception {
    aKilledWorkloadLeavesNothingOnTheGpu(moment, step);
  }

  @ParameterizedTest
  @CsvSource({"AFTER, dump", "BEFORE_UNDO, copied"})
  void aKilledWorkloadLeavesNothingOnTheGpu(Moment moment, String step) throws Exception {
    try (GpuContainer victim = GpuContainer.start(direct.counter())) {
      victim.awaitSteps(3);
      CheckpointOutcome outcome =
          run(
              victim,
              (at, name) -> {
                if (at == moment && name.equals(step)) {
                  victim.end();
                }
              });
      if (outcome instanceof CheckpointOutcome.Failed failed) {
        assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.GONE);
      }
      for (Work work : lab.engine().thaw().inHand()) {
        lab.engine().thaw().run(work.id(), StepListener.NONE);
      }
    }
    direct.assertUnharmed(source);
  }

  /** The next keeper reads the files, with a context on the GPU that the agent names to it. */
  @Test
  void aKeeperThatDiesDuringARestoreLosesNothing() throws Exception {
    ContainerSpec spec = direct.counter();
    Path artifact;
    List<String> before;
    try (GpuContainer first = GpuContainer.start(spec)) {
      first.awaitSteps(3);
      artifact = lab.published(Asked.of(lab, first)).artifact().path();
      before = first.lines();
    }
    Restore restore =
        new Restore(
            lab.parts(),
            HookedStep.all(
                Restore.steps(),
                (at, name) -> {
                  if (at == Moment.BEFORE && name.equals("reload")) {
                    direct.awaitPrefilled();
                    direct.kill("serve");
                    Awaitility.await().atMost(LIMIT).until(() -> isReplaced("serve"));
                  }
                }));
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(EngineLab.restore(restore, artifact, target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(5);
      target.verify(DirectLab.MIB, before);
    }
    direct.assertUnharmed(source);
  }

  @Test
  void deviceMemoryThatIsShortAtTheReloadIsWaitedFor() throws Exception {
    try (GpuContainer faulty = GpuContainer.start(direct.counterWithFaults())) {
      faulty.awaitSteps(3);
      CheckpointOutcome outcome =
          run(
              faulty,
              (at, name) -> {
                if (at == Moment.BEFORE_UNDO && name.equals("offload")) {
                  lab.gpus().fault("create", "error 2");
                }
              });
      assertThat(lab.gpus().folder().resolve("faults/create")).doesNotExist();
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
      faulty.awaitSteps(3);
      faulty.verify(DirectLab.MIB);
    }
    direct.assertUnharmed(source);
  }

  /** A suspended process keeps its other threads, and one of them may execute another program. */
  @Test
  void aProcessWithAnotherProgramDoesNotKeepTheOthersAtTheirGates() throws Exception {
    // As such a process: it lives, and does not have the library.
    Process changed = new ProcessBuilder("sleep", "1000").start();
    try {
      lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND));
      Work work = lab.engine().thaw().inHand().get(0);
      assertThat(work.offloaded()).hasSize(2);
      List<Offloaded> offloaded = new ArrayList<>(work.offloaded());
      offloaded.add(
          0,
          new Offloaded(
              lab.parts().proc().id((int) changed.pid()).orElseThrow(), 1, Map.of(), null));
      lab.parts().journal().write(work.withOffloaded(offloaded, work.stage()));
      assertThat(lab.engine().thaw().run(source.id(), StepListener.NONE))
          .isInstanceOfSatisfying(
              ThawOutcome.Ended.class,
              ended ->
                  assertThat(ended.state().kind())
                      .as(ended.state().detail())
                      .isEqualTo(SourceState.Kind.RUNNING));
    } finally {
      changed.destroyForcibly().waitFor();
    }
    direct.assertUnharmed(source);
  }

  @Test
  void memoryOfAProcessThatEndsBeforeTheStopIsNotSaved() throws Exception {
    try (GpuContainer victim = GpuContainer.start(direct.counter("--fork", "1"))) {
      victim.awaitSteps(3);
      CheckpointOutcome outcome =
          run(
              victim,
              (at, name) -> {
                if (at == Moment.BEFORE && name.equals("stop")) {
                  Work work = lab.parts().journal().read(victim.id()).orElseThrow();
                  endChild(work.offloaded().stream().map(Offloaded::process).toList());
                }
              });
      assertThat(outcome).isNotInstanceOf(CheckpointOutcome.Published.class);
      assertThat(outcome.toString()).contains("has ended");
    }
    direct.assertUnharmed(source);
  }

  private static void endChild(List<ProcessId> processes) throws InterruptedException {
    for (ProcessId process : processes) {
      if (lab.parts().proc().children(process.pid()).isEmpty()) {
        ProcessHandle.of(process.pid()).orElseThrow().destroyForcibly();
        Awaitility.await().atMost(LIMIT).until(() -> !lab.parts().proc().alive(process));
      }
    }
  }

  @Test
  void memoryThatWasHandedOverIsNeverLeftToTheDriver() throws Exception {
    lab.published(Asked.of(lab, source));
    assertThat(lab.checkpoint(Asked.of(lab, source).by(DataPathChoice.CRIU)))
        .isInstanceOfSatisfying(
            CheckpointOutcome.Refused.class,
            refused -> assertThat(refused.unmet().toString()).contains("direct data path"));
    direct.assertUnharmed(source);
  }

  private static CheckpointOutcome run(GpuContainer container, HookedStep.Hook hook)
      throws InterruptedException {
    List<Step<Freeze, FrozenWork>> steps = HookedStep.all(Checkpoint.steps(), hook);
    return EngineLab.checkpoint(new Checkpoint(lab.parts(), steps), Asked.of(lab, container));
  }
}
