package dev.stasis.api.v1beta1.store;

import com.fasterxml.jackson.annotation.JsonValue;

/** How artifacts lie in a shared directory. */
public enum Layout {
  /** Each artifact is a directory with its files. Agents write to it directly. */
  FILES("Files"),

  /**
   * Artifacts are split into compressed chunks, and equal chunks of a namespace are stored once.
   * Agents write to the disk of their node first and upload in the background.
   */
  CHUNKS("Chunks"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  Layout(String word) {
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
