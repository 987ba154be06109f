package dev.stasis.agent.criu;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** How a run of criu ended. */
public sealed interface CriuOutcome {

  /**
   * criu did what it was asked for.
   *
   * @param stats empty when criu could not write them
   */
  record Succeeded(Optional<CriuStats> stats, Duration took) implements CriuOutcome {}

  /**
   * criu gave up by itself.
   *
   * @param lines its last error lines, oldest first
   */
  record Failed(CriuFault fault, List<String> lines) implements CriuOutcome {
    public Failed {
      lines = List.copyOf(lines);
    }
  }

  /**
   * It took longer than it was given and was ended by us. What it left is to be looked at, not
   * assumed.
   *
   * @param forced whether SIGTERM was not enough
   */
  record TimedOut(Duration allowed, boolean forced) implements CriuOutcome {}

  /** Somebody else ended it. */
  record Killed(int signal) implements CriuOutcome {}
}
