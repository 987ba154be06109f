package dev.stasis.api.v1beta1.checkpoint;

import com.fasterxml.jackson.annotation.JsonValue;

/** State in which a workload with afterCheckpoint Suspend is kept. */
public enum DesiredState {
  /** Suspended, or time-sliced if a timeSlice is set. */
  AUTO("Auto"),

  /** Suspended in the host memory of its node until this is changed. */
  SUSPENDED("Suspended"),

  /** Resumed, and kept running. */
  RUNNING("Running"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  DesiredState(String word) {
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
