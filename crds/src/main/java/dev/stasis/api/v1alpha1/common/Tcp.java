package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What becomes of open TCP connections in a restored workload. */
public enum Tcp {
  /** They are restored as they were; this needs the old address. */
  KEEP("Keep"),

  /** They are closed; listening sockets stay. */
  CLOSE("Close");

  private final String word;

  Tcp(String word) {
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
