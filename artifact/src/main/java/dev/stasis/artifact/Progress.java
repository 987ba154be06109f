package dev.stasis.artifact;

/** Receives the progress of a long operation. Called often, from any thread. */
@FunctionalInterface
public interface Progress {
  /** Ignores the progress. */
  Progress NONE = (done, total) -> {};

  /** {@code done} of {@code total} bytes are processed. */
  void at(long done, long total);
}
