package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** State of the workload after its checkpoint. */
public enum AfterCheckpoint {
  /** The workload keeps running. */
  RESUME("Resume"),

  /** The workload stays in the host memory of its node, without GPU memory, until it is resumed. */
  SUSPEND("Suspend"),

  /** The pod is deleted once the artifact is stored. */
  EVICT("Evict"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  AfterCheckpoint(String word) {
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
