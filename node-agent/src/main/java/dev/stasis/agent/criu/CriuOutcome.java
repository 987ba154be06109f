package dev.stasis.agent.criu;

import java.time.Duration;

/** The outcome of a criu run. */
public sealed interface CriuOutcome {

  /** criu succeeded. */
  record Succeeded(Duration took) implements CriuOutcome {}

  /** criu failed. */
  record Failed(CriuFault fault) implements CriuOutcome {}

  /**
   * It exceeded its deadline and was ended. The state that it left must be checked, not assumed.
   *
   * @param forced whether SIGTERM was not enough
   */
  record TimedOut(Duration allowed, boolean forced) implements CriuOutcome {}

  /** It was ended by a signal that we did not send. */
  record Killed(int signal) implements CriuOutcome {}
}
