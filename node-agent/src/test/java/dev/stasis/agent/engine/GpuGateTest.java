package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.cuda.GpuUuid;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One restore at a time on a GPU, and only with enough free device memory. */
class GpuGateTest {

  /** Nobody leaves the gate meanwhile, so that a longer wait ends the same way. */
  private static final Duration BRIEF = Duration.ofMillis(200);

  private static final Duration LONG = Duration.ofSeconds(60);

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @BeforeAll
  static void start() {
    lab = new EngineLab(2, 64);
  }

  @AfterAll
  static void stop() {
    lab.close();
  }

  private static Map<GpuUuid, Long> bytesOn(int gpu) {
    return Map.of(GpuUuid.parse(lab.uuid(gpu)), 1L << 20);
  }

  @Test
  void aGpuIsEnteredByOneRestoreAtATime() throws Exception {
    GpuGate gate = lab.parts().gate();
    try (GpuGate.Pass first = gate.enter(bytesOn(0), LONG)) {
      assertThatThrownBy(() -> gate.enter(bytesOn(0), BRIEF))
          .isInstanceOfSatisfying(
              StepFailure.class, busy -> assertThat(busy.reason()).isEqualTo(Reason.NO_ROOM))
          .hasMessageContaining("another Restore held it");
      try (GpuGate.Pass beside = gate.enter(bytesOn(1), LONG)) {
        assertThat(beside).isNotNull();
      }
    }
    try (GpuGate.Pass next = gate.enter(bytesOn(0), BRIEF)) {
      assertThat(next).isNotNull();
    }
  }

  @Test
  void theNextOneEntersWhenTheFirstOneHasLeft() throws Exception {
    GpuGate gate = lab.parts().gate();
    CompletableFuture<GpuGate.Pass> second = new CompletableFuture<>();
    try (GpuGate.Pass first = gate.enter(bytesOn(0), LONG)) {
      Thread waiting =
          new Thread(
              () -> {
                try {
                  second.complete(gate.enter(bytesOn(0), LONG));
                } catch (StepFailure | InterruptedException e) {
                  second.completeExceptionally(e);
                }
              });
      waiting.start();
      assertThat(second).isNotDone();
    }
    second.get(LONG.toSeconds(), TimeUnit.SECONDS).close();
  }

  @Test
  void aGpuWithoutTheMemoryIsNotEntered() {
    assertThatThrownBy(
            () -> lab.parts().gate().enter(Map.of(GpuUuid.parse(lab.uuid(0)), 1L << 40), BRIEF))
        .isInstanceOfSatisfying(
            StepFailure.class, full -> assertThat(full.reason()).isEqualTo(Reason.NO_ROOM))
        .hasMessageContaining("free memory of GPU");
  }
}
