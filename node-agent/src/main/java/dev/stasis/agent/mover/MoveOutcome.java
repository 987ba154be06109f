package dev.stasis.agent.mover;

import dev.stasis.agent.process.ChildStart;

/** The result of a mover run. */
public sealed interface MoveOutcome {

  /**
   * Everything requested is done.
   *
   * @param bytes the bytes moved
   */
  record Moved(long bytes) implements MoveOutcome {}

  /**
   * The mover failed or died; the region journal shows the current state.
   *
   * @param cause the kind of failure
   * @param message the mover's error message
   */
  record Failed(Cause cause, String message) implements MoveOutcome {}

  /** Kinds of failure, by the mover's exit code. */
  enum Cause {
    /** The command line was invalid: a bug of the agent. */
    USAGE,
    /** The process is gone or has another start time. */
    PROCESS_GONE,
    /** The digest of a chunk does not match; nothing of it was written. */
    WRONG_DIGEST,
    /** The stage has no space. */
    NO_ROOM,
    /** The call could not be injected into the process. */
    INJECTION,
    /** Any other system error. */
    SYSTEM,
    /** A key press on our terminal ended the mover before its first line. */
    NOT_BEGUN,
    /** The mover was killed, or exceeded its deadline and was ended. */
    KILLED;

    static Cause ofExitCode(int code) {
      return switch (code) {
        case 2 -> USAGE;
        case 3 -> PROCESS_GONE;
        case 4 -> WRONG_DIGEST;
        case 5 -> NO_ROOM;
        case 6 -> INJECTION;
        default -> ChildStart.endedByAKey(code) ? NOT_BEGUN : code > 128 ? KILLED : SYSTEM;
      };
    }
  }
}
