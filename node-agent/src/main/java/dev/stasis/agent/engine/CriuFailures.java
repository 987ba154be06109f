package dev.stasis.agent.engine;

import dev.stasis.agent.criu.CriuFault;
import dev.stasis.agent.criu.CriuOutcome;

/** Converts a failed criu run to the engine's terms. */
final class CriuFailures {

  private CriuFailures() {}

  static Reason reason(CriuOutcome outcome) {
    if (outcome instanceof CriuOutcome.Failed failed) {
      return switch (failed.fault().kind()) {
        case NO_SPACE -> Reason.STORE_FAILED;
        case NO_MEMORY -> Reason.NO_ROOM;
        default -> Reason.CRIU_FAILED;
      };
    }
    return Reason.CRIU_FAILED;
  }

  static String describe(CriuOutcome outcome) {
    if (outcome instanceof CriuOutcome.Failed failed) {
      CriuFault fault = failed.fault();
      return fault.toString();
    }
    if (outcome instanceof CriuOutcome.TimedOut timedOut) {
      return "not finished after " + timedOut.allowed().toSeconds() + " s, killed";
    }
    if (outcome instanceof CriuOutcome.Killed killed) {
      return "killed by signal " + killed.signal();
    }
    return "done";
  }
}
