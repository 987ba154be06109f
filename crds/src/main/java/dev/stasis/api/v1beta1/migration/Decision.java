package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonValue;

/** Which copy of the workload survives. Decided once, by an update with optimistic locking. */
public enum Decision {
  /** The target survives; the source never runs again. */
  SWITCH_OVER("SwitchOver"),

  /** The source survives; the target never runs. */
  ROLL_BACK("RollBack"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  Decision(String word) {
    this.word = word;
  }

  /** Returns the value used in the API. */
  @JsonValue
  public String value() {
    return word;
  }

  @Override
  public String toString() {
    return word;
  }
}
