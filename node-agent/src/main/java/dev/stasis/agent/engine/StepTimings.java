package dev.stasis.agent.engine;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The duration of each step, in the order of their starts. Undo steps are named {@code undo:NAME}.
 */
public final class StepTimings {

  private final Map<String, Duration> took = new LinkedHashMap<>();

  synchronized void add(String step, Duration duration) {
    took.merge(step, duration, Duration::plus);
  }

  /** Returns a copy: step to duration. */
  public synchronized Map<String, Duration> asMap() {
    return new LinkedHashMap<>(took);
  }
}
