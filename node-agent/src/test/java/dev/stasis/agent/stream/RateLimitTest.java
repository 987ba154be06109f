package dev.stasis.agent.stream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RateLimitTest {

  @Test
  void theLimitHoldsForAllStreamsTogether() {
    long[] now = {0};
    StreamSender.RateLimit limit = new StreamSender.RateLimit(1 << 20, () -> now[0]);

    assertThat(limit.book(1 << 20)).isZero();
    assertThat(limit.book(1 << 20)).isEqualTo(1_000_000_000L);
    assertThat(limit.book(1 << 20)).isEqualTo(2_000_000_000L);
    now[0] = 10_000_000_000L;
    assertThat(limit.book(1 << 20)).isZero();
  }
}
