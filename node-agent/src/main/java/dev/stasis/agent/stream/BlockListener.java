package dev.stasis.agent.stream;

/** Receives which blocks of a transfer are in their files. Called by many threads. */
public interface BlockListener {

  /** Ignores them. */
  BlockListener NONE = (file, offset, length) -> {};

  /**
   * A block is in its file. Must not block or throw.
   *
   * @param file its path below the folder
   */
  void arrived(String file, long offset, int length);
}
