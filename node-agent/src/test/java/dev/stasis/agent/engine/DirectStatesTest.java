package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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
 * The states of docs/direct-path.md lie between two commands to the keeper. In each of them keeper,
 * second holder, agent or workload dies, or the agent falls silent: of the workloads that live on,
 * nothing is lost.
 */
class DirectStatesTest {

  /** A process that was killed is gone in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private static DirectLab direct;

  @SuppressWarnings("NullAway.Init")
  private static GpuContainer source;

  @BeforeAll
  static void start() {
    lab = new EngineLab(2, 256);
    direct = new DirectLab(lab);
    source = GpuContainer.start(direct.counter("--fork", "1"));
    source.awaitSteps(3);
  }

  @AfterAll
  static void stop() {
    source.close();
    lab.close();
  }

  /**
   * Between agent and keeper of that container; acts once, after the first command of that name.
   */
  private static KeeperProxy once(GpuContainer container, String command, KeeperProxy.Hook hook)
      throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    return new KeeperProxy(
        lab,
        container.id(),
        name -> {
          if (name.equals(command) && !done.getAndSet(true)) {
            hook.after(name);
          }
        });
  }

  static Stream<Arguments> everyKeeper() {
    return Stream.of("serve", "hold")
        .flatMap(
            victim ->
                Stream.of(
                        "use",
                        "attach",
                        "close",
                        "status",
                        "export",
                        "unload",
                        "snapshot",
                        "detach",
                        "reload",
                        "open",
                        "save",
                        "list",
                        "drop")
                    .map(command -> Arguments.of(victim, command)));
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("everyKeeper")
  void neitherAKilledKeeperNorAKilledSecondHolderLosesAnythingAfterAnyCommand(
      String victim, String command) throws Exception {
    neitherAKilledKeeperNorAKilledSecondHolderLosesAnything(victim, command);
  }

  /** Both of them where they alone have the memory, and one of them after each other command. */
  @ParameterizedTest
  @CsvSource({
    "hold, attach",
    "serve, close",
    "serve, export",
    "hold, export",
    "serve, unload",
    "hold, unload",
    "serve, snapshot",
    "hold, snapshot",
    "serve, detach",
    "hold, detach",
    "serve, reload",
    "hold, reload",
    "hold, open",
    "serve, save",
    "hold, drop"
  })
  void neitherAKilledKeeperNorAKilledSecondHolderLosesAnything(String victim, String command)
      throws Exception {
    AtomicBoolean killed = new AtomicBoolean();
    CheckpointOutcome outcome;
    try (KeeperProxy proxy =
        once(
            source,
            command,
            name -> {
              List<ProcessId> victims = direct.keepers(victim);
              direct.kill(victim);
              Awaitility.await()
                  .atMost(LIMIT)
                  .until(() -> direct.keepers(victim).stream().noneMatch(victims::contains));
              killed.set(true);
            })) {
      assertThat(proxy).isNotNull();
      outcome = lab.checkpoint(Asked.of(lab, source));
    }
    assertThat(killed).as("%s was killed after %s: %s", victim, command, outcome).isTrue();
    // Without its copy there is no artifact, but the workload is there.
    if (outcome instanceof CheckpointOutcome.Failed failed) {
      assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.RUNNING);
    } else {
      assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
    }
    direct.assertUnharmed(source);
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"attach", "export", "open"})
  void aKilledAgentLosesNothingAfterAnyOtherCommand(String command) throws Exception {
    aKilledAgentLosesNothing(command);
  }

  @ParameterizedTest
  @ValueSource(strings = {"close", "unload", "snapshot", "detach", "reload", "save"})
  void aKilledAgentLosesNothing(String command) throws Exception {
    Process[] agent = new Process[1];
    try (KeeperProxy proxy =
        once(source, command, name -> agent[0].destroyForcibly().waitFor(60, TimeUnit.SECONDS))) {
      assertThat(proxy).isNotNull();
      agent[0] = ChildAgent.unharmed(lab, "MOVER", source);
      assertThat(agent[0].waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(agent[0].exitValue()).as("exit code of a killed agent").isEqualTo(137);
      if (!lab.engine().thaw().inHand().isEmpty()) {
        lab.thaw(source);
      }
    }
    direct.assertUnharmed(source);
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(strings = {"attach", "close", "snapshot", "open", "save"})
  void aKilledWorkloadLeavesNothingOnTheGpuAfterAnyOtherCommand(String command) throws Exception {
    aKilledWorkloadLeavesNothingOnTheGpu(command);
  }

  @ParameterizedTest
  @ValueSource(strings = {"export", "unload", "detach", "reload"})
  void aKilledWorkloadLeavesNothingOnTheGpu(String command) throws Exception {
    try (GpuContainer victim = GpuContainer.start(direct.counter())) {
      victim.awaitSteps(3);
      try (KeeperProxy proxy = once(victim, command, name -> victim.end())) {
        assertThat(proxy).isNotNull();
        CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, victim));
        if (outcome instanceof CheckpointOutcome.Failed failed) {
          assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.GONE);
        }
        for (Work work : lab.engine().thaw().inHand()) {
          lab.engine().thaw().run(work.id(), StepListener.NONE);
        }
      }
    }
    direct.assertUnharmed(source);
  }

  /** The next keeper has no context, and makes one only on a GPU that the agent names to it. */
  @Test
  void aKeeperThatDiesBeforeTheFreezeDoesNotCostTheDirectPath() throws Exception {
    CheckpointOutcome outcome;
    try (KeeperProxy proxy =
        once(
            source,
            "use",
            name -> {
              direct.kill("serve");
              Awaitility.await().atMost(LIMIT).until(() -> direct.keepers("serve").isEmpty());
            })) {
      assertThat(proxy).isNotNull();
      outcome = lab.checkpoint(Asked.of(lab, source));
    }
    assertThat(outcome)
        .isInstanceOfSatisfying(
            CheckpointOutcome.Published.class,
            published -> assertThat(published.figures().path()).isEqualTo("direct"));
    direct.assertUnharmed(source);
  }

  /** The second holder still has the memory; another keeper gives it up. */
  @Test
  void aKeeperThatDiesWhileItEndsLeavesNothingOnTheGpu() throws Exception {
    try (GpuContainer victim = GpuContainer.start(direct.counter())) {
      victim.awaitSteps(3);
      try (KeeperProxy proxy = once(victim, "list", name -> direct.kill("serve"))) {
        assertThat(proxy).isNotNull();
        assertThat(lab.checkpoint(Asked.of(lab, victim).after(After.EVICT)))
            .isInstanceOf(CheckpointOutcome.Held.class);
        assertThat(lab.engine().evicted().end(victim.id())).isInstanceOf(ThawOutcome.Ended.class);
      }
    }
    direct.assertUnharmed(source);
  }

  /** What is given back of the other one does not wait for another attempt. */
  @Test
  void aProcessThatEndsWhileItsMemoryIsGivenBackDoesNotDelayTheOther() throws Exception {
    try (GpuContainer victim = GpuContainer.start(direct.counter("--fork", "1"))) {
      victim.awaitSteps(3);
      lab.checkpoint(Asked.of(lab, victim).to(null).after(After.SUSPEND));
      List<ProcessId> processes =
          lab.engine().thaw().inHand().get(0).offloaded().stream().map(Offloaded::process).toList();
      assertThat(processes).hasSize(2);
      int child =
          lab.parts().proc().children(processes.get(0).pid()).stream()
                  .anyMatch(stat -> stat.id().equals(processes.get(1)))
              ? 1
              : 0;
      AtomicInteger attached = new AtomicInteger();
      KeeperProxy.Hook hook =
          name -> {
            if (name.equals("attach") && attached.getAndIncrement() == child) {
              ProcessHandle.of(processes.get(child).pid()).orElseThrow().destroyForcibly();
              Awaitility.await()
                  .atMost(LIMIT)
                  .until(() -> !lab.parts().proc().alive(processes.get(child)));
            }
          };
      try (KeeperProxy proxy = new KeeperProxy(lab, victim.id(), hook)) {
        assertThat(proxy).isNotNull();
        lab.engine().thaw().run(victim.id(), StepListener.NONE);
        // The counter ends when it sees that its child has, which it does not at a closed gate.
        ProcessId other = processes.get(1 - child);
        Awaitility.await().atMost(LIMIT).until(() -> !lab.parts().proc().alive(other));
      }
      for (Work work : lab.engine().thaw().inHand()) {
        lab.engine().thaw().run(work.id(), StepListener.NONE);
      }
    }
    direct.assertUnharmed(source);
  }

  /** Before anything was unloaded the library opens the gate by itself after 10 s. */
  @ParameterizedTest
  @ValueSource(strings = {"close", "export"})
  void anAgentThatFallsSilentKeepsNoGateClosed(String command) throws Exception {
    CheckpointOutcome outcome;
    try (KeeperProxy proxy = once(source, command, name -> awaitOpenGates())) {
      assertThat(proxy).isNotNull();
      outcome = lab.checkpoint(Asked.of(lab, source));
    }
    if (outcome instanceof CheckpointOutcome.Failed failed) {
      assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.RUNNING);
    } else {
      // Nothing was handed over yet, so the driver's path was possible.
      assertThat(((CheckpointOutcome.Published) outcome).figures().path()).contains("not direct");
    }
    direct.assertUnharmed(source);
  }

  private static void awaitOpenGates() {
    Awaitility.await("the gates open")
        .atMost(LIMIT)
        .until(
            () -> {
              for (ProcessId process : lab.parts().tree().list(direct.container(source)).living()) {
                if (lab.parts().keepers().active(process)
                    && lab.parts().keepers().look(process).state() != Gate.State.OPEN) {
                  return false;
                }
              }
              return true;
            });
  }
}
