package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * What to do if a run is due while the previous run of the pod is still active, as in a CronJob.
 */
public enum ConcurrencyPolicy {
  /** The new run waits for the GPU. */
  ALLOW("Allow"),

  /** The new run is skipped. */
  FORBID("Forbid"),

  /** The active run is cancelled. */
  REPLACE("Replace"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  ConcurrencyPolicy(String word) {
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
