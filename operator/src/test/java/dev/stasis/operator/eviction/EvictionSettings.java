package dev.stasis.operator.eviction;

import java.time.Duration;

/** Settings for a test. */
public record EvictionSettings(Duration deadline, Duration givenUpAfter) implements EvictionConfig {

  /** The defaults. */
  EvictionSettings() {
    this(Duration.ofMinutes(10), Duration.ofMinutes(1));
  }

  @Override
  public Duration maxDeadline() {
    return Duration.ofHours(6);
  }

  @Override
  public Duration againAfter() {
    return Duration.ofSeconds(30);
  }

  @Override
  public Duration keep() {
    return Duration.ofHours(1);
  }
}
