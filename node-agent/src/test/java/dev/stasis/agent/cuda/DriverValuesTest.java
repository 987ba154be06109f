package dev.stasis.agent.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverValuesTest {

  @Test
  void aUuidIsItsBytesInReadingOrder() {
    GpuUuid uuid = GpuUuid.parse("GPU-00010203-0405-0607-0809-0A0B0C0D0EFF");

    assertThat(uuid.text()).isEqualTo("GPU-00010203-0405-0607-0809-0a0b0c0d0eff");
    assertThat(uuid.bytes())
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "GPU-",
        "0",
        "MIG-00010203-0405-0607-0809-0a0b0c0d0eff",
        "GPU-00010203-0405-0607-0809-0a0b0c0d0e",
        "GPU-00010203-0405-0607-0809-0a0b0c0d0egg",
        "GPU-000102030405-0607-0809-0a0b0c0d0eff00",
      })
  void aUuidThatIsNoneIsRefusedWithBothForms(String text) {
    assertThatThrownBy(() -> GpuUuid.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("gpu uuid: expected GPU-xxxxxxxx-")
        .hasMessageEndingWith("got \"" + text + "\"");
  }

  @Test
  void aSmallCopyHasAMinute() {
    DriverDeadline deadline = DriverDeadline.forBytes(0);

    assertThat(deadline.checkpoint()).isEqualTo(Duration.ofSeconds(60));
    assertThat(deadline.restore()).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void aLargeCopyHasFiveTimesWhatItTakes() {
    DriverDeadline deadline = DriverDeadline.forBytes(130_000_000_000L);

    assertThat(deadline.checkpoint()).isEqualTo(Duration.ofSeconds(250));
    assertThat(deadline.restore()).isEqualTo(Duration.ofMillis(81_250));
  }

  @ParameterizedTest
  @EnumSource(CudaState.class)
  void everyStateIsFoundByItsNumber(CudaState state) {
    assertThat(CudaState.of(state.code())).contains(state);
  }

  @Test
  void numbersThatWeDoNotKnowAreNoState() {
    assertThat(CudaState.of(-1)).isEmpty();
    assertThat(CudaState.of(6)).isEmpty();
  }

  @Test
  void everyStateOfTheNodeIsOneSentence() {
    assertThat(new DriverAvailability.Present("/l", 13010).describe())
        .isEqualTo("driver for CUDA 13.1 at /l");
    assertThat(new DriverAvailability.NoLibrary("libcuda.so.1", List.of("/a", "/b")).describe())
        .isEqualTo("no driver: expected libcuda.so.1, got none at /a, /b");
    assertThat(new DriverAvailability.Outdated(12040, "cuX").describe())
        .isEqualTo("driver too old: expected cuX (driver 570, CUDA 12.8), got CUDA 12.4");
    assertThat(new DriverAvailability.Broken(803, "MISMATCH").describe())
        .isEqualTo("driver broken: 803 MISMATCH");
  }
}
