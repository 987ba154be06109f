package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** What a finished operation left behind. */
public enum Outcome {
  /** Everything that was asked for. */
  DONE("Done"),

  /** Nothing: a check failed before anything was touched. */
  REFUSED("Refused"),

  /** It failed or was cancelled after something was touched, and everything is as before. */
  UNDONE("Undone"),

  /** It failed, and so did the way back; sourceRunning says whether the workload runs. */
  NOT_UNDONE("NotUndone"),

  /** The workload is gone: the node was started anew, or its processes died. */
  LOST("Lost");

  private final String word;

  Outcome(String word) {
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
