package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What a failed hook means. */
public enum OnHookFailure {
  /** A hook before the freeze refuses it; one afterwards is reported. */
  FAIL("Fail"),

  /** It is reported, and the work goes on. */
  CONTINUE("Continue");

  private final String word;

  OnHookFailure(String word) {
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
