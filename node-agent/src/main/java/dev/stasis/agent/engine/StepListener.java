package dev.stasis.agent.engine;

/** Hears what an operation does, for progress lines, journals and metrics. Must not block. */
public interface StepListener {

  /** Hears nothing. */
  StepListener NONE = (step, done, total) -> {};

  /**
   * A step began ({@code done == 0, total == 0}) or went on.
   *
   * @param step the step's name
   * @param done bytes done in this step
   * @param total bytes of this step, 0 when unknown
   */
  void progress(String step, long done, long total);

  /**
   * The way forward ended here, and everything is being undone.
   *
   * @param why in one sentence
   */
  default void undoing(String why) {}
}
