package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CopyRatesTest {

  private final CopyRates rates = new CopyRates();

  @Test
  void theLastCopyCounts() {
    rates.note(CopyRates.Copy.MOVE_OUT, 4L << 30, TimeUnit.SECONDS.toNanos(1));
    rates.note(CopyRates.Copy.MOVE_OUT, 4L << 30, TimeUnit.SECONDS.toNanos(2));

    assertThat(rates.bytesPerSecond(CopyRates.Copy.MOVE_OUT)).contains(2L << 30);
    assertThat(rates.bytesPerSecond(CopyRates.Copy.GPU_CHECKPOINT)).isEmpty();
  }

  @Test
  void aSmallCopySaysNothing() {
    rates.note(CopyRates.Copy.GPU_RESTORE, (1L << 30) - 1, 1);

    assertThat(rates.bytesPerSecond(CopyRates.Copy.GPU_RESTORE)).isEmpty();
  }
}
