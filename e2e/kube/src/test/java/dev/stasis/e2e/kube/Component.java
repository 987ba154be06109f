package dev.stasis.e2e.kube;

import java.util.List;

/** A running part of Stasis: the operator, or the agent of a node. */
interface Component {

  /** Ends it as a power cut would: SIGKILL, nothing is told to it. */
  void kill();

  /** Starts it again after {@link #kill}; it is not necessarily ready yet. */
  void start();

  /** All that it has logged since the beginning, over every start. */
  String log();

  /**
   * Returns the crashes since the last call: ends that no scenario asked for, with their last
   * words. It is empty where this is no process of this machine.
   */
  default List<String> takeCrashes() {
    return List.of();
  }
}
