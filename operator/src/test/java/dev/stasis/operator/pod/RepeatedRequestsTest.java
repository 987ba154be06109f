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

class RepeatedRequestsTest {

  private static final PodWrites.Answer BUDGET = new PodWrites.Refused("needs 1 healthy pod", true);

  private final SteppedClock clock = new SteppedClock();
  private final RepeatedRequests repeated = new RepeatedRequests(clock);

  @Test
  void aReconcilerThatAsksEverySecondReachesTheApiServerAfterWaitsThatDouble() {
    List<Integer> asked = new ArrayList<>();
    for (int second = 0; second < 240; second++) {
      if (repeated.current("pod", "").isEmpty()) {
        asked.add(second);
        repeated.refused("pod", BUDGET);
      } else {
        assertThat(repeated.current("pod", "")).contains(BUDGET);
      }
      clock.forward(Duration.ofSeconds(1));
    }

    assertThat(asked).containsExactly(0, 5, 10, 20, 40, 80, 140, 200);
  }

  @Test
  void aRefusalForGoodAndAnAcceptanceAreNotRemembered() {
    repeated.refused("pod", new PodWrites.Refused("forbidden", false));
    assertThat(repeated.current("pod", "")).isEmpty();

    repeated.refused("pod", BUDGET);
    clock.forward(Duration.ofSeconds(6));
    repeated.refused("pod", new PodWrites.Accepted());
    assertThat(repeated.current("pod", "")).isEmpty();
  }

  @Test
  void aResizeThatTheKubeletDefersIsNotRepeatedButAnotherOneIsAskedForAtOnce() {
    repeated.answered("pod", "4Gi", new PodWrites.Accepted());
    assertThat(repeated.current("pod", "4Gi")).isPresent();
    assertThat(repeated.current("pod", "8Gi")).isEmpty();

    repeated.answered("pod", "8Gi", new PodWrites.Accepted());
    assertThat(repeated.current("pod", "4Gi")).isEmpty();
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
    repeated.refused("pod/dry-run", BUDGET);

    assertThat(repeated.current("pod", "")).isEmpty();
  }
}
