package dev.stasis.api.v1alpha1.policy;

import com.fasterxml.jackson.annotation.JsonValue;

/** A reason to take one victim rather than another. */
public enum VictimOrder {
  /** The pod of the lowest priority. */
  LOWEST_PRIORITY("LowestPriority"),

  /** The pod that has run for the shortest time since it began or was last checkpointed. */
  LEAST_WORK_LOST("LeastWorkLost"),

  /** The pod whose freeze will be the shortest. */
  SHORTEST_FREEZE("ShortestFreeze");

  private final String word;

  VictimOrder(String word) {
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
