package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** Status of a condition. */
public enum ConditionValue {
  /** The condition holds. */
  TRUE("True"),

  /** The condition does not hold. */
  FALSE("False"),

  /** Unknown. */
  UNKNOWN("Unknown");

  private final String word;

  ConditionValue(String word) {
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
