package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What the user states about GPU memory shared between processes of a workload. */
public enum Sharing {
  /** No two processes share GPU memory, even though they are connected. */
  NONE("None"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  Sharing(String word) {
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
