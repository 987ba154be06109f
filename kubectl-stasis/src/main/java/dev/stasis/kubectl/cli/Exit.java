package dev.stasis.kubectl.cli;

/** Exit codes: a script can tell what happened. */
final class Exit {
  /** It was done. */
  static final int DONE = 0;

  /** What was asked for was refused or failed; or the doctor found a problem. */
  static final int FAILED = 1;

  /** Wrong use of the command line. */
  static final int USAGE = 2;

  /** The cluster could not be reached, has no Stasis, or refused the request. */
  static final int CLUSTER = 3;

  /** It was not over in the time that --timeout gave; it goes on. */
  static final int NOT_YET = 4;

  private Exit() {}
}
