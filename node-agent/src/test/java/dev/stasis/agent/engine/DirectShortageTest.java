package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Memory is short, of the GPU or of the node, or the gate cannot be drained: a checkpoint on the
 * direct data path is refused or undone, and the workload has all of its memory.
 */
class DirectShortageTest {

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

  @Test
  void deviceMemoryThatStaysShortAtTheReloadCostsTheArtifactAlone() throws Exception {
    try (GpuContainer faulty = GpuContainer.start(direct.counterWithFaults())) {
      faulty.awaitSteps(3);
      CheckpointOutcome outcome;
      try (KeeperProxy proxy =
          new KeeperProxy(
              lab,
              faulty.id(),
              name -> {
                if (name.equals("detach")) {
                  lab.gpus().fault("create", "error 2 always");
                } else if (name.equals("forget")) {
                  lab.gpus().mend("create");
                }
              })) {
        assertThat(proxy).isNotNull();
        outcome = lab.checkpoint(Asked.of(lab, faulty));
      }
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.message()).contains("content is not here");
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
              });
      faulty.awaitSteps(3);
      faulty.verify(DirectLab.MIB);
    }
    direct.assertUnharmed(source);
  }

  /** A call to the driver does not end while the gate closes, as while a long kernel runs. */
  @Test
  void aGateThatCannotBeDrainedLeavesTheWorkloadToTheDriverOrAlone() throws Exception {
    try (GpuContainer busy = GpuContainer.start(direct.counter())) {
      busy.awaitSteps(3);
      assertThat(closedTooLate(busy))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Published.class,
              published ->
                  assertThat(published.figures().path())
                      .startsWith("mover; not direct: close: busy"));
      busy.awaitSteps(3);
      assertThat(lab.published(Asked.of(lab, busy)).figures().path()).isEqualTo("direct");

      // Memory was handed over now, so the driver cannot have it.
      assertThat(closedTooLate(busy))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.reason()).as(failed.message()).isEqualTo(Reason.LOCK_TIMEOUT);
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
              });
      busy.awaitSteps(3);
      busy.verify(DirectLab.MIB);
    }
    direct.assertUnharmed(source);
  }

  private static CheckpointOutcome closedTooLate(GpuContainer container) throws Exception {
    ProcessId process =
        lab.parts().tree().list(direct.container(container)).living().stream()
            .filter(lab.parts().keepers()::active)
            .findFirst()
            .orElseThrow();
    KeeperProxy.Hook hook =
        new KeeperProxy.Hook() {
          @Override
          public void before(String command) {
            if (command.equals("close")) {
              lab.worker().lock(process, LIMIT, LIMIT);
            }
          }

          @Override
          public void after(String command) {
            if (command.equals("close")) {
              lab.worker().unlock(process, LIMIT);
            }
          }
        };
    try (KeeperProxy proxy = new KeeperProxy(lab, container.id(), hook)) {
      assertThat(proxy).isNotNull();
      return lab.checkpoint(Asked.of(lab, container).lockWithin(Duration.ofSeconds(1)));
    }
  }

  @Test
  void aNodeWithoutMemoryForASuspendRefusesItOrGivesEverythingBack() throws Exception {
    // From here on its memory cannot be left to the driver.
    lab.published(Asked.of(lab, source));
    Path stage = lab.memoryStage();
    Asked suspend = Asked.of(lab, source).to(null).after(After.SUSPEND);
    new Sh().must("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", stage.toString());
    try {
      assertThat(lab.checkpoint(suspend))
          .isInstanceOfSatisfying(
              CheckpointOutcome.Refused.class,
              refused ->
                  assertThat(refused.unmet().toString()).contains("room for the device memory"));

      // Others take the memory before it is prepared: the second process finds none.
      new Sh().must("mount", "-o", "remount,size=64m", stage.toString());
      CheckpointOutcome outcome;
      try (KeeperProxy proxy =
          new KeeperProxy(
              lab,
              source.id(),
              name -> {
                if (name.equals("use") && Files.notExists(stage.resolve("other"))) {
                  Files.write(stage.resolve("other"), new byte[40 << 20]);
                }
              })) {
        assertThat(proxy).isNotNull();
        outcome = lab.checkpoint(suspend);
      }
      assertThat(outcome)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Failed.class,
              failed -> {
                assertThat(failed.message()).contains("no room for the data file");
                assertThat(failed.source().kind()).isEqualTo(SourceState.Kind.RUNNING);
              });
    } finally {
      new Sh().must("umount", stage.toString());
    }
    direct.assertUnharmed(source);
  }
}
