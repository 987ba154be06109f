package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.common.PhaseTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How long a finished object is kept, from {@code spec.options.ttlSecondsAfterFinished}.
 *
 * @param seconds null for no limit
 */
public record TimeToLive(@Nullable Integer seconds) {

  /**
   * Returns the remaining time, zero if it must be deleted; empty for no limit.
   *
   * @param phases phases of a finished object, the last one at the end
   */
  public Optional<Duration> left(@Nullable List<? extends PhaseTime<?>> phases, Instant now) {
    if (seconds == null || phases == null || phases.isEmpty()) {
      return Optional.empty();
    }
    Instant end = phases.get(phases.size() - 1).time().plusSeconds(seconds);
    return Optional.of(now.isBefore(end) ? Duration.between(now, end) : Duration.ZERO);
  }
}
