package dev.stasis.kubectl.cli;

/** Exit codes for scripts. */
final class Exit {
  /** Success. */
  static final int DONE = 0;

  /** The request was refused or failed, or the doctor found a problem. */
  static final int FAILED = 1;

  /** Invalid command line. */
  static final int USAGE = 2;

  /** The cluster could not be reached, has no Stasis, or refused the request. */
  static final int CLUSTER = 3;

  /** It was not finished within --timeout; it continues. */
  static final int NOT_YET = 4;

  private Exit() {}
}
