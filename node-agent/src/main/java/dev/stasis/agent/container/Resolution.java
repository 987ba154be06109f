package dev.stasis.agent.container;

/** The result of looking up a container by a name. */
public sealed interface Resolution {

  record Found(Container container) implements Resolution {}

  /**
   * @param why one sentence: the name, the expected and the actual value
   */
  record Refused(String why) implements Resolution {}
}
