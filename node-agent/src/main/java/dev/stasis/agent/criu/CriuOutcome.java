package dev.stasis.agent.criu;

import java.time.Duration;
import java.util.List;

/** The outcome of a criu run. */
public sealed interface CriuOutcome {

  /** criu succeeded. */
  record Succeeded(Duration took) implements CriuOutcome {}

  /**
   * criu failed.
   *
   * @param lines its last error lines, oldest first
   */
  record Failed(CriuFault fault, List<String> lines) implements CriuOutcome {
    public Failed {
      lines = List.copyOf(lines);
    }
  }

  /**
   * It exceeded its deadline and was ended. The state that it left must be checked, not assumed.
   *
   * @param forced whether SIGTERM was not enough
   */
  record TimedOut(Duration allowed, boolean forced) implements CriuOutcome {}

  /** It was ended by a signal that we did not send. */
  record Killed(int signal) implements CriuOutcome {}
}
