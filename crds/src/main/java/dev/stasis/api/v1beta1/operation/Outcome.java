package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** Outcome of a finished operation. */
public enum Outcome {
  /** Completed as requested. */
  DONE("Done"),

  /** A check failed before anything was touched. */
  REFUSED("Refused"),

  /** Failed or cancelled, and rolled back: the workload runs as before. */
  UNDONE("Undone"),

  /** Failed, and the rollback failed too; sourceRunning reports whether the workload runs. */
  NOT_UNDONE("NotUndone"),

  /** The workload is lost: the node rebooted, or its processes died. */
  LOST("Lost"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  Outcome(String word) {
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
