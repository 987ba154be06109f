package dev.stasis.agent.engine;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/**
 * Receives the progress of an operation, for progress lines, journals and metrics. Must not block.
 */
public interface StepListener {

  /** Ignores everything. */
  StepListener NONE = (step, done, total) -> {};

  /**
   * A step began ({@code done == 0, total == 0}) or progressed.
   *
   * @param step the step's name
   * @param done bytes done in this step
   * @param total bytes of this step, 0 when unknown
   */
  void progress(String step, long done, long total);

  /**
   * The forward direction ended, and everything is being undone.
   *
   * @param why the reason, in one sentence
   */
  default void undoing(String why) {}

  /** The workload resumed. The operation needs no GPU any more, and publishes its artifact. */
  default void publishing() {}

  /**
   * Returns the operation as its requester describes it at this moment; every record of the journal
   * contains it. Empty to keep the description that the journal has.
   */
  default Optional<JsonNode> operation() {
    return Optional.empty();
  }
}
