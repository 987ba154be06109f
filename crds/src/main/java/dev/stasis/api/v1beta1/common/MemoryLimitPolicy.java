package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do if the device memory does not fit into the pod's memory limit. */
public enum MemoryLimitPolicy {
  /** Raises the pod's memory limit in place before the freeze and lowers it afterwards. */
  RESIZE("Resize"),

  /** Refuses the freeze and reports both sizes. */
  FAIL("Fail"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  MemoryLimitPolicy(String word) {
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
