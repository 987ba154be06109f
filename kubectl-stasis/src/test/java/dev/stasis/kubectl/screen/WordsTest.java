package dev.stasis.kubectl.screen;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WordsTest {

  @ParameterizedTest
  @CsvSource({"-5,0s", "45,45s", "119,119s", "120,2m", "10799,179m", "10800,3h", "172800,2d"})
  void anAgeReadsAsKubectlWritesIt(long seconds, String text) {
    assertThat(Words.span(Duration.ofSeconds(seconds))).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0,''", "512,512", "2048,2.0Ki", "52505706496,48.9Gi"})
  void aSizeReadsAsInTheStatus(long bytes, String text) {
    assertThat(Words.size(bytes)).isEqualTo(text);
  }

  @Test
  void aBarTellsRateAndTimeLeft() {
    assertThat(new Bar(50, 100, 10).text(10)).isEqualTo("[#####.....] 50%  10/s  6s left");
    assertThat(new Bar(120, 100, 10).text(4)).isEqualTo("[####] 100%  10/s");
    assertThat(new Bar(0, 0, 0).text(10)).isEmpty();
  }

  @Test
  void columnsLineUpAndLinesEndWithTheirText() {
    Table table = new Table("A", "LONG", "B");
    table.add("first", "x", "");
    assertThat(table.lines()).containsExactly("A       LONG   B", "first   x");
  }
}
