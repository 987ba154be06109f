package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** A truth that may be unknown, written as in a condition. */
public enum Truth {
  /** It is so. */
  TRUE("True"),

  /** It is not so. */
  FALSE("False"),

  /** Nobody can say. */
  UNKNOWN("Unknown");

  private final String word;

  Truth(String word) {
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
