package dev.stasis.e2e.kube;

/** A running part of Stasis: the operator, or the agent of a node. */
interface Component {

  /** Ends it as a power cut would: SIGKILL, nothing is told to it. */
  void kill();

  /** Starts it again after {@link #kill}; it is not necessarily ready yet. */
  void start();

  /** All that it has logged since the beginning, over every start. */
  String log();
}
