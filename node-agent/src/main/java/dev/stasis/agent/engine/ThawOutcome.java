package dev.stasis.agent.engine;

import java.time.Duration;

/** How a thaw ended. */
public sealed interface ThawOutcome {

  /** Nothing was done. */
  record NotFound(String why) implements ThawOutcome {}

  /**
   * It was tried; {@code state} says what the workload does now.
   *
   * @param took the whole time
   */
  record Ended(SourceState state, StepTimings timings, Duration took) implements ThawOutcome {}
}
