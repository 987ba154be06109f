package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What becomes of the workload once its checkpoint is taken. */
public enum AfterCheckpoint {
  /** It goes on where it stood. */
  RESUME("Resume"),

  /** It stays in the memory of its node, without GPU memory, until it is resumed. */
  SUSPEND("Suspend"),

  /** Its pod is removed once the artifact is safe. */
  EVICT("Evict");

  private final String word;

  AfterCheckpoint(String word) {
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
