package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class BackoffTest {

  private static final Instant BEGAN = Instant.parse("2026-11-21T10:00:00Z");

  private final Backoff backoff = new Backoff(Duration.ofSeconds(15), Backoff.PATIENT);

  @Test
  void aDayOfWaitingIsObservedOnceInFiveMinutes() {
    int looks = 0;
    Instant now = BEGAN;
    while (now.isBefore(BEGAN.plus(Duration.ofDays(1)))) {
      now = now.plus(backoff.after(BEGAN, now));
      looks++;
    }

    assertThat(looks).isBetween(285, 295);
  }

  @Test
  void itBeginsWithTheShortestWaitAndThenDoubles() {
    assertThat(backoff.after(BEGAN, BEGAN)).isEqualTo(Duration.ofSeconds(15));
    assertThat(backoff.after(BEGAN, BEGAN.plusSeconds(15))).isEqualTo(Duration.ofSeconds(15));
    assertThat(backoff.after(BEGAN, BEGAN.plusSeconds(30))).isEqualTo(Duration.ofSeconds(30));
    assertThat(backoff.after(BEGAN, BEGAN.plusSeconds(60))).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void aClockThatWentBackKeepsNothingWaitingForLong() {
    assertThat(backoff.after(BEGAN, BEGAN.minusSeconds(3600))).isEqualTo(Duration.ofSeconds(15));
  }
}
