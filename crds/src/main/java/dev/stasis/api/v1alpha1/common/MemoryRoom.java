package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do when the memory limit has no room for the device memory. */
public enum MemoryRoom {
  /** The pod is resized in place before the freeze, and back afterwards. */
  RESIZE("Resize"),

  /** The freeze is refused, with both sizes. */
  REFUSE("Refuse");

  private final String word;

  MemoryRoom(String word) {
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
