package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** Whether a workload that cannot be restored may be started from its image. */
public enum ColdStartFallback {
  /** It stays as it is: the restore fails. */
  NEVER("Never"),

  /** It is started cold; that is said, and counted, as a cold start. */
  ALLOW("Allow");

  private final String word;

  ColdStartFallback(String word) {
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
