package dev.stasis.agent.process;

/** The signals that we send, with their Linux numbers (the same on x86-64 and arm64). */
public enum Signal {
  KILL(9),
  TERM(15),
  CONT(18),
  STOP(19);

  private final int number;

  Signal(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }
}
