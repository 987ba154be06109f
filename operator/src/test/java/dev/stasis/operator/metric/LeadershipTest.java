package dev.stasis.operator.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeadershipTest {

  private final Leadership leadership = new Leadership();
  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void publicationWaitsForTheLeadership() {
    leadership.whenLeading(runs::incrementAndGet);
    assertThat(runs).hasValue(0);
    assertThat(leadership.leads()).isFalse();

    leadership.begin();
    leadership.whenLeading(runs::incrementAndGet);

    assertThat(runs).hasValue(2);
    assertThat(leadership.leads()).isTrue();
  }
}
