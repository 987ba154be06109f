package dev.stasis.operator.target;

import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.operator.status.Reason;

/**
 * One thing for which no target can be made.
 *
 * @param reason in one word
 * @param property what is not as it must be
 * @param wanted what it must be
 * @param found what it is
 */
public record Refusal(Reason reason, String property, String wanted, String found) {

  static Refusal of(String property, String wanted, String found) {
    return new Refusal(Reason.PREFLIGHT_REFUSED, property, wanted, found);
  }

  /** One sentence that says all of it. */
  public String sentence() {
    return property + ": wanted " + wanted + ", found " + found;
  }

  /** As it stands in a status. */
  public Fault fault() {
    return new Fault(reason.word(), property, wanted, found, null, null, sentence());
  }
}
