package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do if a hook fails. */
public enum OnHookFailure {
  /** A failed hook before the freeze refuses it; a failed hook after the freeze is reported. */
  FAIL("Fail"),

  /** The failure is reported and the operation continues. */
  CONTINUE("Continue"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  OnHookFailure(String word) {
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
