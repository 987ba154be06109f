package dev.stasis.agent.process;

/** A process has more in /proc than the agent reads. */
public final class ProcLimitException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String property;
  private final String expected;

  /**
   * Names what is too large.
   *
   * @param property what it is, with its process
   * @param expected the limit
   */
  public ProcLimitException(String property, String expected) {
    super(property + ": expected " + expected + ", got more");
    this.property = property;
    this.expected = expected;
  }

  public String property() {
    return property;
  }

  public String expected() {
    return expected;
  }
}
