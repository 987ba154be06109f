package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do when a liveness probe would fail before the freeze is over. */
public enum LivenessPolicy {
  /** The freeze is refused, with both times. */
  REFUSE("Refuse"),

  /** The agent answers HTTP, TCP and gRPC probes inside the pod while it is frozen. */
  ANSWER("Answer");

  private final String word;

  LivenessPolicy(String word) {
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
