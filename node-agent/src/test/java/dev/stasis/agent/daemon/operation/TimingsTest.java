package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointOutcome;
import dev.stasis.agent.engine.StepTimings;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TimingsTest {

  private static final Map<String, Duration> STEPS =
      Map.of(
          "offload", Duration.ofMillis(4000),
          "lock", Duration.ofMillis(10),
          "gpu-checkpoint", Duration.ofMillis(400));

  private static CheckpointTimings frozen(String path, boolean suspended) {
    return new Timings(STEPS)
        .freeze(
            new CheckpointOutcome.Figures(new StepTimings(), Duration.ZERO, path, 0),
            suspended,
            Duration.ZERO,
            Duration.ZERO);
  }

  @Test
  void theGpuIsFreeWhenTheKeeperHasSavedASuspendedWorkload() {
    assertThat(frozen("direct", true).getFreedMilliseconds()).isEqualTo(4410);
  }

  @Test
  void theGpuIsNotFreeWhileAKeeperHoldsTheMemoryOfAFrozenWorkload() {
    assertThat(frozen("direct", false).getFreedMilliseconds()).isNull();
    assertThat(frozen("mover, low memory (little room)", false).getFreedMilliseconds())
        .isEqualTo(4410);
  }

  @Test
  void aReloadIsPartOfFilling() {
    RestoreTimings restore =
        new Timings(Map.of("fill", Duration.ofMillis(3), "reload", Duration.ofMillis(1000)))
            .restore(Duration.ofMillis(1100), Optional.of(Duration.ofMillis(1450)));
    assertThat(restore.getFillMilliseconds()).isEqualTo(1003);
    assertThat(restore.getUnaccountedMilliseconds()).isEqualTo(97);
    assertThat(restore.getTookMilliseconds()).isEqualTo(1450);
  }
}
