package dev.stasis.api.v1beta1.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.DataPath;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExpectedFreezeTest {

  private static final long GPU = 40_000_000_000L;
  private static final long HOST = 2_000_000_000L;

  private static final SelfTest TESTED =
      new SelfTest(null, true, null, null, null, 4_000_000_000L, null, 2_000_000_000L, null);

  private static final SelfTest MEASURED =
      TESTED.with(4_000_000_000L, 8_000_000_000L, 40_000_000_000L);

  private static Duration frozen(DataPath path, boolean writes, @Nullable SelfTest node) {
    return new ExpectedFreeze(GPU, HOST, 0, path, writes).frozen(node);
  }

  @Test
  void theTimeComesFromTheRatesOfTheNode() {
    assertThat(frozen(DataPath.MOVER, true, MEASURED))
        .isEqualTo(Duration.ofMillis(1000 + 10000 + 5000 + 1000 + 741));
    assertThat(frozen(DataPath.CRIU, true, MEASURED))
        .isEqualTo(Duration.ofSeconds(1 + 10 + 5 + 21));
    assertThat(frozen(DataPath.MOVER, false, MEASURED)).isEqualTo(Duration.ofSeconds(1 + 10 + 5));
  }

  @Test
  void aNodeThatHasNotMeasuredIsTakenForASlowOne() {
    Duration frozen = new ExpectedFreeze(52_000_000_000L, 0, 0, DataPath.MOVER, true).frozen(null);

    assertThat(frozen).isEqualTo(Duration.ofMillis(1000 + 20000 + 6500 + 5200));
  }

  @Test
  void filesThatArePackedCount() {
    long files = 30_000_000_000L;

    assertThat(new ExpectedFreeze(0, 0, files, DataPath.MOVER, true).frozen(TESTED))
        .isEqualTo(Duration.ofSeconds(1 + 15));
    assertThat(new ExpectedFreeze(0, 0, files, DataPath.MOVER, false).frozen(TESTED))
        .isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void ratesOfOperationsReplaceThoseOfTheTest() {
    assertThat(TESTED.with(null, null, null)).isEqualTo(TESTED);
    assertThat(TESTED.with(null, null, 5L).moveOutBytesPerSecond()).isEqualTo(5L);
    assertThat(TESTED.with(null, null, 5L).writeBytesPerSecond())
        .isEqualTo(TESTED.writeBytesPerSecond());
  }
}
