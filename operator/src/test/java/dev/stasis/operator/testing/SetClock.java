package dev.stasis.operator.testing;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** A clock that is ahead of the machine's by as much as a test says. */
public final class SetClock extends Clock {

  private volatile Duration ahead = Duration.ZERO;

  public void ahead(Duration further) {
    ahead = ahead.plus(further);
  }

  @Override
  public Instant instant() {
    return Instant.now().plus(ahead);
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
