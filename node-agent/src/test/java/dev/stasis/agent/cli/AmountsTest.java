package dev.stasis.agent.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AmountsTest {

  @ParameterizedTest
  @CsvSource({"500ms,500", "90s,90000", "10m,600000", "1h30m,5400000", "1s500ms,1500"})
  void timesAreReadWithTheirUnits(String text, long millis) {
    assertThat(new Span.Converter().convert(text).length()).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "0s", "-1s", "5 s", "5d", "s", "1h 3m", "5ss"})
  void aTimeWithoutUnitOrSenseIsRefused(String text) {
    assertThatThrownBy(() -> new Span.Converter().convert(text))
        .hasMessageContaining("expected a time above 0");
  }

  @ParameterizedTest
  @CsvSource({"0,0 ms", "999,999 ms", "1500,1.50 s", "119000,119.00 s", "120000,2 min"})
  void timesAreShownAsPeopleReadThem(long millis, String text) {
    assertThat(new Span(Duration.ofMillis(millis))).hasToString(text);
  }

  @ParameterizedTest
  @CsvSource({"1023,1023 B", "1024,1.0 KiB", "17179869184,16.0 GiB"})
  void bytesAreShownAsPeopleReadThem(long count, String text) {
    assertThat(new Bytes(count)).hasToString(text);
  }

  @Test
  void theProgressLineTellsStepBytesRateAndWhatIsLeft() {
    assertThat(ProgressLine.text("move", 1L << 30, 4L << 30, 1_000_000_000L))
        .isEqualTo("move  1.0 GiB of 4.0 GiB (25 %)  1.07 GB/s  3.00 s left");
    assertThat(ProgressLine.text("lock", 0, 0, 5)).isEqualTo("lock");
    assertThat(ProgressLine.text("dump", 1L << 20, 0, 1_000_000L))
        .isEqualTo("dump  1.0 MiB  1.05 GB/s");
  }

  @Test
  void columnsAreAsWideAsTheirWidestCell() {
    assertThat(new Table("A", "LONG", "C").row("first", "b", "c").row("x", "y", "").lines())
        .containsExactly("A      LONG  C", "first  b     c", "x      y");
  }
}
