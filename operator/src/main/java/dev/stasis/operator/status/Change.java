package dev.stasis.operator.status;

/** What is different between two states of an object. */
public enum Change {
  /** Nothing: a write would be a no-op. */
  NONE,
  /** Only how far it is, which may be written once a second. */
  PROGRESS,
  /** More than that: it is written at once. */
  SUBSTANCE
}
