package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** How the device memory of a process gets into the artifact. */
public enum DataPath {
  /** criu moves every page: always right, and slow. */
  CRIU("Criu"),

  /** The agent copies the device regions, criu dumps the small rest. */
  MOVER("Mover"),

  /** A library inside the process moves device memory straight to its destination. */
  DIRECT("Direct");

  private final String word;

  DataPath(String word) {
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
