package dev.stasis.agent.engine;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How long each step took, in the order in which the steps began. Undo steps stand as {@code
 * undo:NAME}.
 */
public final class StepTimings {

  private final Map<String, Duration> took = new LinkedHashMap<>();

  synchronized void add(String step, Duration duration) {
    took.merge(step, duration, Duration::plus);
  }

  /** A copy: step to time. */
  public synchronized Map<String, Duration> asMap() {
    return new LinkedHashMap<>(took);
  }
}
