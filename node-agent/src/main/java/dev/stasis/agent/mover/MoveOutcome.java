package dev.stasis.agent.mover;

import dev.stasis.agent.process.ChildStart;

/** How a run of the mover ended. */
public sealed interface MoveOutcome {

  /**
   * Everything that was asked is done.
   *
   * @param bytes the bytes moved
   */
  record Moved(long bytes) implements MoveOutcome {}

  /**
   * The mover gave up or died; the region journal says what holds now.
   *
   * @param cause the kind of fault
   * @param message the mover's own sentence
   */
  record Failed(Cause cause, String message) implements MoveOutcome {}

  /** Kinds of fault, by the mover's exit code. */
  enum Cause {
    /** The command line was wrong: a fault of ours. */
    USAGE,
    /** The process is gone, or is not the one named. */
    PROCESS_GONE,
    /** A chunk is not what its digest says; nothing of it was written. */
    WRONG_DIGEST,
    /** The stage has no room. */
    NO_ROOM,
    /** The call could not be injected into the process. */
    INJECTION,
    /** Any other system error. */
    SYSTEM,
    /** A key pressed on our terminal ended the mover before its first line. */
    NOT_BEGUN,
    /** The mover was killed, or outran its deadline and was ended. */
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
