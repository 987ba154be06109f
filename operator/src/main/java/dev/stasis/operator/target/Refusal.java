package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;

/**
 * A reason against a target.
 *
 * @param reason the reason in CamelCase
 * @param property the property concerned
 * @param wanted the expected value
 * @param found the actual value
 */
public record Refusal(Reason reason, String property, String wanted, String found) {

  static Refusal of(String property, String wanted, String found) {
    return new Refusal(Reason.PREFLIGHT_REFUSED, property, wanted, found);
  }

  /** Returns all of it in one sentence. */
  public String sentence() {
    return property + ": expected " + wanted + ", got " + found;
  }

  /** Returns the form for a status. */
  public Fault fault() {
    return reason.misfit(property, wanted, found);
  }
}
