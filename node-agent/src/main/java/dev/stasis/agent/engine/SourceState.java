package dev.stasis.agent.engine;

/**
 * The observed state of a workload after an operation.
 *
 * @param detail one sentence, with the driver's own error if there is one
 */
public record SourceState(Kind kind, String detail) {

  /** The state. */
  public enum Kind {
    /**
     * Every process exists and is RUNNING, except those that ended by themselves while it was
     * suspended; nothing was lost.
     */
    RUNNING,
    /** It is frozen and complete, and can be thawed: {@code stasis-node thaw}. */
    FROZEN,
    /** It has ended. */
    GONE,
    /** It could not be thawed, or its state is unknown. */
    UNKNOWN
  }
}
