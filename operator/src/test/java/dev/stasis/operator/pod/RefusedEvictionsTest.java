package dev.stasis.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusedEvictionsTest {

  private static final PodWrites.Answer BUDGET = new PodWrites.Refused("needs 1 healthy pod", true);

  private final SteppedClock clock = new SteppedClock();
  private final RefusedEvictions refused = new RefusedEvictions(clock);

  @Test
  void aReconcilerThatAsksEverySecondReachesTheApiServerAfterWaitsThatDouble() {
    List<Integer> asked = new ArrayList<>();
    for (int second = 0; second < 240; second++) {
      if (refused.current("pod").isEmpty()) {
        asked.add(second);
        refused.answered("pod", BUDGET);
      } else {
        assertThat(refused.current("pod")).contains(BUDGET);
      }
      clock.forward(Duration.ofSeconds(1));
    }

    assertThat(asked).containsExactly(0, 5, 10, 20, 40, 80, 140, 200);
  }

  @Test
  void aRefusalForGoodAndAnAcceptanceAreNotRemembered() {
    refused.answered("pod", new PodWrites.Refused("forbidden", false));
    assertThat(refused.current("pod")).isEmpty();

    refused.answered("pod", BUDGET);
    clock.forward(Duration.ofSeconds(6));
    refused.answered("pod", new PodWrites.Accepted());
    assertThat(refused.current("pod")).isEmpty();
  }

  private static final class SteppedClock extends Clock {
    private Instant now = Instant.parse("2026-11-21T10:00:00Z");

    void forward(Duration further) {
      now = now.plus(further);
    }

    @Override
    public Instant instant() {
      return now;
    }

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }

  @Test
  void aDryRunSaysNothingOfTheEvictionItself() {
    refused.answered("pod/dry-run", BUDGET);

    assertThat(refused.current("pod")).isEmpty();
  }
}
