package dev.stasis.operator.checkpoint;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** When an object is observed again: the soonest time that a step needs. */
final class Requeue {

  /** The interval for an object that waits for nothing; the SDK reconciles as often. */
  static final Duration IDLE = Duration.ofMinutes(10);

  private @Nullable Duration soonest;

  void after(Duration wait) {
    if (soonest == null || wait.compareTo(soonest) < 0) {
      soonest = wait.isNegative() ? Duration.ZERO : wait;
    }
  }

  Optional<Duration> soonest() {
    return Optional.ofNullable(soonest);
  }
}
