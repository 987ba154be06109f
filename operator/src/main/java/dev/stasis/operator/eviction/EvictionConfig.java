package dev.stasis.operator.eviction;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;

/** Settings of evictions: {@code stasis.eviction.*}, or {@code STASIS_EVICTION_*}. */
@ConfigMapping(prefix = "stasis.eviction")
public interface EvictionConfig {

  /** How long an eviction is held at most, where the pod's annotation says nothing else. */
  @WithDefault("10m")
  Duration deadline();

  /**
   * The longest that an annotation may ask for; a longer one counts as this. Default: six hours, so
   * that a user cannot hold an administrator's drain over night.
   */
  @WithDefault("6h")
  Duration maxDeadline();

  /**
   * After how long without a further request an eviction counts as given up, and the pod goes on.
   * Default: a minute; kubectl drain asks every 5 s, autoscalers every 10 s or so.
   */
  @WithDefault("1m")
  Duration givenUpAfter();

  /** After how long another attempt is made to save a pod. Default: half a minute. */
  @WithDefault("30s")
  Duration againAfter();

  /** How long the records stay once all is over. Default: an hour, as events do. */
  @WithDefault("1h")
  Duration keep();
}
