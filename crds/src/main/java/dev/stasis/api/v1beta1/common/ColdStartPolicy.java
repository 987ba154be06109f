package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** Whether to start a workload from its image if it cannot be restored. */
public enum ColdStartPolicy {
  /** The restore fails. */
  FAIL("Fail"),

  /** The workload is started from its image; the status and the metrics report a cold start. */
  COLD_START("ColdStart"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  ColdStartPolicy(String word) {
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
