package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What becomes of an artifact when its GpuCheckpoint is deleted. */
public enum DeletionPolicy {
  /** It is deleted. */
  DELETE("Delete"),

  /** It stays in the store. */
  RETAIN("Retain");

  private final String word;

  DeletionPolicy(String word) {
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
