package dev.stasis.agent.direct;

/** A command that the keeper did not execute. */
public final class KeeperFailure extends Exception {
  private static final long serialVersionUID = 1;

  /** Ends the message about a command that uses a store and makes no progress. */
  static final String SILENT_STORE = "does the store respond?";

  private final boolean connectionLost;

  KeeperFailure(String message, boolean connectionLost) {
    super(message);
    this.connectionLost = connectionLost;
  }

  /** Whether the keeper is gone or silent: a new one takes over the memory of the second holder. */
  public boolean connectionLost() {
    return connectionLost;
  }

  /** Whether the store in which the keeper saves does not respond. */
  public boolean isSilentStore() {
    return String.valueOf(getMessage()).endsWith(SILENT_STORE);
  }

  /** Whether a file of an artifact has other bytes than those that were saved. */
  public boolean isDamage() {
    return String.valueOf(getMessage()).contains("wrong digest");
  }

  /** Whether the GPU had too little memory: nothing is lost, and a later attempt may succeed. */
  public boolean isOutOfMemory() {
    return String.valueOf(getMessage()).contains("OUT_OF_MEMORY");
  }
}
