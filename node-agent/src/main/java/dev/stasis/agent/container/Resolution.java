package dev.stasis.agent.container;

/** What a name of a container led to. */
public sealed interface Resolution {

  record Found(Container container) implements Resolution {}

  /**
   * @param why one sentence: what was asked for, what was wanted, what was found
   */
  record Refused(String why) implements Resolution {}
}
