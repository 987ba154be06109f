package dev.stasis.agent.container;

/** What came of stopping a tree. */
public sealed interface StopOutcome {

  /** No thread of the tree runs any more, and none is missing. */
  record Stopped(StoppedTree tree) implements StopOutcome {}

  /**
   * Not all of it stopped; it was let go again.
   *
   * @param why one sentence
   * @param running whether every process that we stopped was seen to leave the stop
   */
  record NotStopped(String why, boolean running) implements StopOutcome {}
}
