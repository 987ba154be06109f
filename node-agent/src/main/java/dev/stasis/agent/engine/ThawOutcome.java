package dev.stasis.agent.engine;

import java.time.Duration;

/** The outcome of a thaw. */
public sealed interface ThawOutcome {

  /** Nothing was done. */
  record NotFound(String why) implements ThawOutcome {}

  /**
   * It was attempted; {@code state} is the current state of the workload.
   *
   * @param took total duration
   */
  record Ended(SourceState state, StepTimings timings, Duration took) implements ThawOutcome {}
}
