package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Keeper, second holder, agent or workload is killed at random moments of checkpoints on the direct
 * data path: what lives on has lost nothing. {@code -Dtest.argLine=-Dstasis.seed=N} repeats a run.
 */
class DirectRandomLossTest {

  /** An operation takes a second, on a busy machine some. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  /** Somewhat longer than an operation of this workload on an idle machine. */
  private static final int LATEST_MS = 1200;

  private final long seed = Long.getLong("stasis.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();

  private enum Victim {
    KEEPER,
    SECOND_HOLDER,
    AGENT,
    WORKLOAD
  }

  @Test
  void fourKillsAtRandomMomentsLoseNothing() throws Exception {
    kill(1);
  }

  @Test
  @Tag("long")
  void thirtyKillsAtRandomMomentsLoseNothing() throws Exception {
    kill(8);
  }

  /** So many times each of the victims. */
  private void kill(int times) throws Exception {
    try (EngineLab lab = new EngineLab(2, 256)) {
      DirectLab direct = new DirectLab(lab);
      try (GpuContainer source = GpuContainer.start(direct.counter("--fork", "1"))) {
        source.awaitSteps(3);
        for (int round = 0; round < times; round++) {
          for (Victim victim : Victim.values()) {
            int delay = random.nextInt(LATEST_MS);
            String what = "seed %d: %s killed after %d ms".formatted(seed, victim, delay);
            if (victim == Victim.WORKLOAD) {
              try (GpuContainer mortal = GpuContainer.start(direct.counter())) {
                mortal.awaitSteps(3);
                round(direct, mortal, victim, delay, what);
              }
            } else {
              round(direct, source, victim, delay, what);
            }
            direct.assertUnharmed(source);
          }
        }
      }
    } finally {
      clock.shutdownNow();
    }
  }

  private void round(
      DirectLab direct, GpuContainer container, Victim victim, int delay, String what)
      throws Exception {
    EngineLab lab = direct.lab();
    Process[] agent = new Process[1];
    AtomicReference<@Nullable Future<?>> planned = new AtomicReference<>();
    Runnable kill =
        switch (victim) {
          case KEEPER -> () -> direct.kill("serve");
          case SECOND_HOLDER -> () -> direct.kill("hold");
          case AGENT -> () -> agent[0].destroyForcibly();
          case WORKLOAD -> container::end;
        };
    try (KeeperProxy proxy =
        new KeeperProxy(
            lab,
            container.id(),
            command -> {
              if (planned.get() == null) {
                planned.set(clock.schedule(kill, delay, TimeUnit.MILLISECONDS));
              }
            })) {
      assertThat(proxy).isNotNull();
      if (victim == Victim.AGENT) {
        agent[0] = ChildAgent.unharmed(lab, "MOVER", container);
        assertThat(agent[0].waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(what).isTrue();
      } else {
        CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, container));
        if (outcome instanceof CheckpointOutcome.Failed failed) {
          assertThat(failed.source().kind())
              .as("%s: %s %s", what, failed.message(), failed.source())
              .isIn(SourceState.Kind.RUNNING, SourceState.Kind.GONE);
        }
      }
      for (Work work : lab.engine().thaw().inHand()) {
        ThawOutcome thawed = lab.engine().thaw().run(work.id(), StepListener.NONE);
        assertThat(thawed).as(what).isInstanceOf(ThawOutcome.Ended.class);
      }
    }
    // One that comes too late must not hit the next round.
    Objects.requireNonNull(planned.get(), what).cancel(false);
  }
}
