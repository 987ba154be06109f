package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A Restore waits for device memory; it is never tried without. */
class MemoryWaitTest {

  private static final int MIB = 32;

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private ContainerSpec spec;

  @BeforeEach
  void makeLab() {
    lab = new EngineLab(1, 72); // room for one of them
    spec = ContainerSpec.counter(lab.gpus(), "--mib", "" + MIB, "--interval-ms", "100");
  }

  @AfterEach
  void closeLab() {
    lab.close();
  }

  @Test
  void aThawWaitsUntilAnotherProcessHasGone() throws Exception {
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      assertThat(lab.checkpoint(Asked.of(lab, source).to(null).after(After.SUSPEND)))
          .isInstanceOf(CheckpointOutcome.Suspended.class);
      AtomicBoolean gone = new AtomicBoolean();
      try (GpuContainer other = GpuContainer.start(spec)) {
        other.awaitSteps(2);
        CompletableFuture<Boolean> thawed =
            CompletableFuture.supplyAsync(
                () -> {
                  try {
                    lab.thaw(source);
                    return gone.get();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                });
        other.awaitSteps(10);
        assertThat(thawed).isNotDone();
        gone.set(true);
        other.end();
        assertThat(thawed.join()).isTrue();
      }
      source.awaitSteps(3);
      source.verify(MIB);
    }
  }

  @Test
  void aRestoreReportsBothNumbersAfterItsLimitAndCanBeRepeated() throws Exception {
    CheckpointOutcome.Published published;
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(2);
      published = lab.published(Asked.of(lab, source));
    }
    RestoreRequest.Options usual = RestoreRequest.Options.defaults();
    RestoreRequest.Options impatient =
        new RestoreRequest.Options(usual.tcp(), Duration.ofMillis(500), usual.threads());
    try (GpuContainer other = GpuContainer.start(spec);
        GpuContainer target = GpuContainer.start(spec.asHolder())) {
      other.awaitSteps(2);
      assertThat(
              lab.engine()
                  .restore()
                  .run(
                      EngineLab.restoreRequest(published.artifact().path(), target, impatient),
                      EngineLab.control(),
                      StepListener.NONE))
          .isInstanceOfSatisfying(
              RestoreOutcome.Failed.class,
              failed -> {
                assertThat(failed.reason()).isEqualTo(Reason.NO_ROOM);
                assertThat(failed.message()).contains("free memory of GPU").contains("expected");
              });
    }
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      assertThat(lab.restore(published.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(2);
    }
  }
}
