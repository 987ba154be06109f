package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** How device memory is copied into the artifact. */
public enum DataPath {
  /** CRIU copies every page. Slow; always possible. */
  CRIU("Criu"),

  /** The agent copies the large memory regions, and CRIU dumps the rest. */
  MOVER("Mover"),

  /** A library in the process moves device memory directly to its destination. */
  DIRECT("Direct"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  DataPath(String word) {
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
