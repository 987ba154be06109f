package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonValue;

/** Whether a pod that belongs to a gang may be preempted. */
public enum GroupPolicy {
  /** Pods of a gang are not preempted, because the others would wait or fail. */
  SKIP("Skip"),

  /** Pods of a gang may be preempted like any other. */
  PREEMPT("Preempt"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  GroupPolicy(String word) {
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
