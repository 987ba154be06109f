package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What happens to an artifact when its GpuCheckpoint is deleted. */
public enum DeletionPolicy {
  /** The artifact is deleted. */
  DELETE("Delete"),

  /** The artifact is retained in the store. */
  RETAIN("Retain"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  DeletionPolicy(String word) {
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
