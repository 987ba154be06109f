package dev.stasis.agent.daemon.operation;

/** An operation was ended before anything was touched: cancelled, or out of time. */
final class Stopped extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean outOfTime;

  Stopped(String why, boolean outOfTime) {
    super(why);
    this.outOfTime = outOfTime;
  }

  /** Whether its deadline passed; otherwise somebody cancelled it. */
  boolean outOfTime() {
    return outOfTime;
  }
}
