package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** State of the workload after a freeze. */
public enum Afterwards {
  /** The workload keeps running. */
  RESUME("Resume"),

  /** The processes stay in host memory and hold no GPU memory. */
  SUSPEND("Suspend"),

  /**
   * The workload stays frozen, with its artifact stored or sent, until an operation Thaw or End.
   * Used for evictions and migrations.
   */
  HOLD("Hold"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  Afterwards(String word) {
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
