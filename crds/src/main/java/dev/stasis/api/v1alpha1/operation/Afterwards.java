package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** What the agent leaves behind after a freeze. */
public enum Afterwards {
  /** The workload goes on. */
  RESUME("Resume"),

  /** It stays in memory, its processes alive, its GPU memory free. */
  SUSPEND("Suspend"),

  /**
   * It stays frozen, the artifact published or sent, until Thaw or End; for an eviction and for a
   * migration.
   */
  HOLD("Hold");

  private final String word;

  Afterwards(String word) {
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
