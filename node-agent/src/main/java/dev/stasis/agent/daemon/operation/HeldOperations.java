package dev.stasis.agent.daemon.operation;

/** The operations that wait for a decision. */
interface HeldOperations {

  /**
   * Somebody decided, and it was done.
   *
   * @param operation name of the one that waited
   * @param ending the end of the one that did it
   */
  void decided(String operation, Ending ending);
}
