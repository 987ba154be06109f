package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** In which state the workload is. */
public enum WorkloadState {
  /** It runs. */
  RUNNING("Running"),

  /** It is stopped; an operation has it in hand. */
  FROZEN("Frozen"),

  /** It is suspended in memory. */
  SUSPENDED("Suspended"),

  /** A holder is there, without a workload. */
  WAITING("Waiting"),

  /** Its processes have ended. */
  ENDED("Ended"),

  /** Nobody can say. */
  UNKNOWN("Unknown");

  private final String word;

  WorkloadState(String word) {
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
