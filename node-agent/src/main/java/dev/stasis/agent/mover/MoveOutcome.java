package dev.stasis.agent.mover;

import dev.stasis.agent.process.ChildStart;

/** The result of a mover run. */
public sealed interface MoveOutcome {

  /** Everything requested is done. */
  record Moved(long bytes) implements MoveOutcome {}

  /**
   * The mover failed or died; the region journal shows the current state.
   *
   * @param cause the kind of failure
   * @param message the mover's error message
   */
  record Failed(Cause cause, String message) implements MoveOutcome {}

  /** Kinds of failure that a caller distinguishes. */
  enum Cause {
    /** The stage has no space. */
    NO_ROOM,

    /** A chunk of the stage differs from its digest, or cannot be read. */
    DAMAGED,

    /** A key press on our terminal ended the mover before its first line. */
    NOT_BEGUN,

    /** The mover was killed, or exceeded its deadline and was ended. */
    KILLED,

    /** Any other failure, which the message explains. */
    OTHER;

    static Cause ofExitCode(int code) {
      if (code == 4 || code == 5) {
        return code == 4 ? DAMAGED : NO_ROOM;
      }
      return ChildStart.endedByAKey(code) ? NOT_BEGUN : code > 128 ? KILLED : OTHER;
    }
  }
}
