package dev.stasis.agent.container;

/** The result of stopping a tree. */
public sealed interface StopOutcome {

  /** No thread of the tree runs, and none is missing. */
  record Stopped(StoppedTree tree) implements StopOutcome {}

  /**
   * Not all of it stopped; it was continued again.
   *
   * @param why one sentence
   * @param running whether every process that we stopped was seen to run again
   */
  record NotStopped(String why, boolean running) implements StopOutcome {}
}
