package dev.stasis.api.v1alpha1.policy;

import com.fasterxml.jackson.annotation.JsonValue;

/** Whether a pod that works together with others may be a victim. */
public enum Gangs {
  /** A pod of a gang is left alone: the others would wait for it, or fail. */
  REFUSE("Refuse"),

  /** It may be a victim like any other. */
  ALLOW("Allow");

  private final String word;

  Gangs(String word) {
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
