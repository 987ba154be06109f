package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** Observed state of a workload. */
public enum WorkloadState {
  /** Running. */
  RUNNING("Running"),

  /** Frozen by an operation. */
  FROZEN("Frozen"),

  /** Suspended in host memory. */
  SUSPENDED("Suspended"),

  /** A target pod whose holder waits for the workload. */
  WAITING("Waiting"),

  /** All processes have ended. */
  ENDED("Ended"),

  /** Unknown. */
  UNKNOWN("Unknown"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  WorkloadState(String word) {
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
