package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {

  @Test
  void eachWaitIsTwiceAsLongUpToTheMaximum() {
    Intervals.Backoff backoff =
        new Intervals.Backoff(Duration.ofSeconds(2), Duration.ofSeconds(15));

    assertThat(Stream.iterate(backoff.first(), backoff::after).limit(6))
        .containsExactly(
            Duration.ofSeconds(2),
            Duration.ofSeconds(4),
            Duration.ofSeconds(8),
            Duration.ofSeconds(15),
            Duration.ofSeconds(15),
            Duration.ofSeconds(15));
  }

  @Test
  void aFrozenWorkloadIsThawedAgainWithinSecondsAndEveryTenMinutesInTheEnd() {
    Intervals.Backoff thaw = Intervals.production().thaw();

    assertThat(thaw.first()).isEqualTo(Duration.ofSeconds(5));
    assertThat(thaw.longest()).isEqualTo(Duration.ofMinutes(10));
  }
}
