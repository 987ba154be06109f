package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.text.Percentage;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordsForPeopleTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1023, 1023",
    "1024, 1.0Ki",
    "52505706496, 48.9Gi",
    "1073741823, 1.0Gi",
    "9223372036854775807, 8.0Ei"
  })
  void aSizeHasOneDigitAfterThePoint(long bytes, String text) {
    assertThat(new HumanBytes(bytes).text()).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0ms",
    "999, 999ms",
    "14100, 14.1s",
    "119949, 119.9s",
    "119950, 2m00s",
    "200000, 3m20s",
    "7500000, 2h05m"
  })
  void aTimeIsAsExactAsItIsShort(long milliseconds, String text) {
    assertThat(new HumanDuration(Duration.ofMillis(milliseconds)).text()).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0, 0, 0%", "63, 100, 63%", "999, 1000, 99%", "7, 7, 100%", "9, 7, 100%"})
  void aHundredPercentMeansThatNothingIsLeft(long done, long total, String text) {
    assertThat(new Percentage(done, total).text()).isEqualTo(text);
  }
}
