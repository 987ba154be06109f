package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do if a liveness probe would fail during the freeze. */
public enum ProbePolicy {
  /** Refuses the freeze and reports both times. */
  FAIL("Fail"),

  /**
   * The agent answers HTTP, TCP and gRPC probes in the pod's network namespace during the freeze.
   */
  EMULATE("Emulate"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  ProbePolicy(String word) {
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
