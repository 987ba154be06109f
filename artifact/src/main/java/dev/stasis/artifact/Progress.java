package dev.stasis.artifact;

/** Hears how far a long piece of work has come. Called from any thread, often. */
@FunctionalInterface
public interface Progress {
  /** Hears nothing. */
  Progress NONE = (done, total) -> {};

  /** {@code done} of {@code total} bytes are through. */
  void at(long done, long total);
}
