package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do if a liveness probe would fail during the freeze. */
public enum LivenessPolicy {
  /** Refuses the freeze and reports both times. */
  REFUSE("Refuse"),

  /**
   * The agent answers HTTP, TCP and gRPC probes in the pod's network namespace during the freeze.
   */
  ANSWER("Answer");

  private final String word;

  LivenessPolicy(String word) {
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
