package dev.stasis.operator.workflow;

/**
 * The time limit of a step.
 *
 * @param value a duration, the field of the spec that sets it, or "none"
 * @param reason the reason for the number, or for having none; a sentence for the documentation
 */
public record Timeout(String value, String reason) {

  /** Returns the value for a step without a time limit. */
  public static Timeout none(String reason) {
    return new Timeout("none", reason);
  }
}
