package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.engine.HookedStep.Moment;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
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
 * On the direct data path the keeper, the second holder or the agent dies at every step of a
 * checkpoint, or a step fails: the same workload bears all of it and counts on with right numbers.
 * {@link DirectStatesTest} kills keeper and second holder after every command between them.
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

  /** Every step once: after it, or while it is undone, in turn. The others take long. */
  static Stream<Arguments> someMoments() {
    return everyOther(0);
  }

  static Stream<Arguments> otherMoments() {
    return everyOther(1);
  }

  private static Stream<Arguments> everyOther(int first) {
    List<String> steps = Checkpoint.steps().stream().map(Step::name).toList();
    return IntStream.range(0, steps.size())
        .mapToObj(
            i ->
                Arguments.of(
                    (i + first) % 2 == 0 ? Moment.AFTER : Moment.BEFORE_UNDO, steps.get(i)));
  }

  static Stream<Arguments> someKeepers() {
    return Stream.concat(killed("serve", someMoments()), killed("hold", otherMoments()));
  }

  static Stream<Arguments> otherKeepers() {
    return Stream.concat(killed("serve", otherMoments()), killed("hold", someMoments()));
  }

  private static Stream<Arguments> killed(String victim, Stream<Arguments> moments) {
    return moments.map(row -> Arguments.of(victim, row.get()[0], row.get()[1]));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("otherKeepers")
  void aKilledKeeperLosesNothingAtAnyOtherMoment(String victim, Moment moment, String step)
      throws Exception {
    aKilledKeeperLosesNothing(victim, moment, step);
  }

  @ParameterizedTest
  @MethodSource("someKeepers")
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
  @MethodSource("otherMoments")
  void aFailedStepLosesNothingAtAnyOtherMoment(Moment moment, String step) throws Exception {
    aFailedStepLosesNothing(moment, step);
  }

  @ParameterizedTest
  @MethodSource("someMoments")
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

  @ParameterizedTest
  @CsvSource({
    "AFTER, offload",
    "AFTER, gpu-checkpoint",
    "AFTER, dump",
    "AFTER, copied",
    "BEFORE_UNDO, stop",
    "BEFORE_UNDO, offload",
    "DURING, publish"
  })
  void aKilledAgentLosesNothing(String moment, String step) throws Exception {
    ChildAgent.dying(lab, DataPathChoice.MOVER.name(), source, moment, step);
    lab.thaw(source);
    direct.assertUnharmed(source);
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("otherMoments")
  void aKilledWorkloadLeavesNothingOnTheGpuAtAnyOtherMoment(Moment moment, String step)
      throws Exception {
    aKilledWorkloadLeavesNothingOnTheGpu(moment, step);
  }

  @ParameterizedTest
  @MethodSource("someMoments")
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
