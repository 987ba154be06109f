package dev.stasis.api.v1alpha1.migration;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * Which copy of the workload is the one. Taken once, by a write that fails when somebody else has
 * taken it.
 */
public enum Decision {
  /** The target is the one; the source never runs again. */
  SWITCH_OVER("SwitchOver"),

  /** The source is the one; the target never runs. */
  ROLL_BACK("RollBack");

  private final String word;

  Decision(String word) {
    this.word = word;
  }

  /** The word as it stands in the API. */
  @JsonValue
  public String word() {
    return word;
  }

  @Override
  public String toString() {
    return word;
  }
}
