package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The GPU has no space for a copy, so device memory moves to host memory that was prepared before
 * the freeze: of 256 MiB the workload has 128.
 */
class DirectRoomTest {

  private static final int MIB = 64;

  /** A process that was killed is gone in milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private DirectLab direct;

  @SuppressWarnings("NullAway.Init")
  private ContainerSpec spec;

  @BeforeEach
  void start() {
    lab = new EngineLab(2, 256);
    direct = new DirectLab(lab);
    spec = direct.counter("--mib", "" + MIB, "--ballast", "" + MIB);
  }

  @AfterEach
  void stop() {
    lab.close();
  }

  @Test
  void aCopyInHostMemoryIsWrittenAfterTheThawAndRestored() throws Exception {
    List<String> before;
    Path artifact;
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      CheckpointOutcome.Published published = lab.published(Asked.of(lab, source));
      assertThat(published.figures().path())
          .isEqualTo("direct; copied into host memory while the workload was frozen");
      source.awaitSteps(20); // Every 16 steps all of it is compared.
      source.verify(MIB);
      lab.assertNothingLeft();
      artifact = published.artifact().path();
      source.end();
      before = source.lines();
    }
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(artifact, target)).isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(20);
      target.verify(MIB, before);
    }
    lab.assertNothingLeft();
  }

  @ParameterizedTest
  @CsvSource({"serve, room", "serve, stage", "hold, stage", "serve, reload", "serve, save"})
  void aKilledKeeperCostsTheCopyAtMost(String victim, String command) throws Exception {
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      AtomicBoolean killed = new AtomicBoolean();
      CheckpointOutcome outcome;
      try (KeeperProxy proxy =
          new KeeperProxy(
              lab,
              source.id(),
              name -> {
                if (name.equals(command) && !killed.getAndSet(true)) {
                  var victims = direct.keepers(victim);
                  direct.kill(victim);
                  Awaitility.await()
                      .atMost(LIMIT)
                      .until(() -> direct.keepers(victim).stream().noneMatch(victims::contains));
                }
              })) {
        assertThat(proxy).isNotNull();
        outcome = lab.checkpoint(Asked.of(lab, source));
      }
      assertThat(killed).isTrue();
      if (outcome instanceof CheckpointOutcome.Failed failed) {
        assertThat(failed.source().kind()).as(failed.message()).isEqualTo(SourceState.Kind.RUNNING);
      } else {
        assertThat(outcome).isInstanceOf(CheckpointOutcome.Published.class);
      }
      source.awaitSteps(20);
      source.verify(MIB);
      lab.assertNothingLeft();
    }
  }

  /** The driver's path needs that memory itself. */
  @Test
  void preparedMemoryIsReleasedIfTheDriverTakesOver() throws Exception {
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      CheckpointOutcome outcome;
      try (KeeperProxy proxy =
          new KeeperProxy(
              lab,
              source.id(),
              new KeeperProxy.Hook() {
                @Override
                public void before(String command) {
                  if (command.equals("close")) {
                    direct.kill("serve");
                  }
                }

                @Override
                public void after(String command) {}
              })) {
        assertThat(proxy).isNotNull();
        outcome = lab.checkpoint(Asked.of(lab, source));
      }
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Published.class,
              published -> assertThat(published.figures().path()).startsWith("mover; not direct"));
      source.awaitSteps(20);
      source.verify(MIB);
      lab.assertNothingLeft();
    }
  }
}
