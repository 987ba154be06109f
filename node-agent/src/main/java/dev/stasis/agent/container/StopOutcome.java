package dev.stasis.agent.container;

/** The result of stopping a tree. */
public sealed interface StopOutcome {

  /** No thread of the tree runs, and none is missing. */
  record Stopped(StoppedTree tree) implements StopOutcome {}

  /** Not all of it stopped; it was continued again. */
  record NotStopped(String why) implements StopOutcome {}
}
