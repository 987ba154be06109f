package dev.stasis.operator.eviction;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of evictions: {@code stasis.eviction.*}, or {@code STASIS_EVICTION_*}. */
@ConfigMapping(prefix = "stasis.eviction")
public interface EvictionConfig {

  /** Maximum time to hold an eviction, unless the pod's annotation sets another. */
  @WithDefault("10m")
  Duration deadline();

  /**
   * Maximum of the annotation's value. Default: six hours, so that a user cannot hold an
   * administrator's drain overnight.
   */
  @WithDefault("6h")
  Duration maxDeadline();

  /**
   * Time without a further request after which an eviction counts as abandoned. Default: a minute;
   * kubectl drain requests every 5 s, autoscalers about every 10 s.
   */
  @WithDefault("1m")
  Duration givenUpAfter();

  /** Time before another attempt to checkpoint a pod. Default: half a minute. */
  @WithDefault("30s")
  Duration againAfter();

  /** How long records are kept after the end. Default: an hour, as for events. */
  @WithDefault("1h")
  Duration keep();
}
