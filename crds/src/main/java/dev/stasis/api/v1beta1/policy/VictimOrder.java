package dev.stasis.api.v1beta1.policy;

import com.fasterxml.jackson.annotation.JsonValue;

/** Criterion for choosing victims. */
public enum VictimOrder {
  /** Prefers the pod with the lowest priority. */
  LOWEST_PRIORITY("LowestPriority"),

  /** Prefers the pod with the shortest time since its start or last checkpoint. */
  LEAST_WORK_LOST("LeastWorkLost"),

  /** Prefers the pod with the shortest expected freeze time. */
  SHORTEST_FREEZE("ShortestFreeze"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  VictimOrder(String word) {
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
