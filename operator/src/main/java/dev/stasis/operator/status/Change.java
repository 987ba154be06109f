package dev.stasis.operator.status;

/** The difference between two states of an object. */
public enum Change {
  /** Nothing: a write would be a no-op. */
  NONE,
  /** Only progress, which may be written once a second. */
  PROGRESS,
  /** More than progress: it is written immediately. */
  SUBSTANCE
}
