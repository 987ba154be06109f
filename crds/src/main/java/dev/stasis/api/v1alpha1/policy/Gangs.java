package dev.stasis.api.v1alpha1.policy;

import com.fasterxml.jackson.annotation.JsonValue;

/** Whether a pod that belongs to a gang may be preempted. */
public enum Gangs {
  /** Pods of a gang are not preempted, because the others would wait or fail. */
  REFUSE("Refuse"),

  /** Pods of a gang may be preempted like any other. */
  ALLOW("Allow");

  private final String word;

  Gangs(String word) {
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
