package dev.stasis.api.v1alpha1.schedule;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do when a run is due and the pod's last one is still at work. As in a CronJob. */
public enum ConcurrencyPolicy {
  /** The new one waits for its turn on the GPU. */
  ALLOW("Allow"),

  /** The new one is skipped. */
  FORBID("Forbid"),

  /** The old one is cancelled. */
  REPLACE("Replace");

  private final String word;

  ConcurrencyPolicy(String word) {
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
