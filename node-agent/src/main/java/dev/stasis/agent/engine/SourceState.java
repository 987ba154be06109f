package dev.stasis.agent.engine;

/**
 * What the workload does after an operation, as far as it could be seen.
 *
 * @param kind in one word
 * @param detail in one sentence, with the driver's own error where there is one
 */
public record SourceState(Kind kind, String detail) {

  /** In one word. */
  public enum Kind {
    /** Every process is there and RUNNING; nothing of it was lost. */
    RUNNING,
    /** It stands still, whole, and can be brought back: {@code stasis-node thaw}. */
    FROZEN,
    /** It has ended. */
    GONE,
    /** It could not be brought back, or it cannot be told. */
    UNKNOWN
  }
}
