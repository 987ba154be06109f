package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonValue;

/** Order in which source and target pod exist. */
public enum MigrationStrategy {
  /**
   * The target pod gets its GPUs before the source is touched. If anything fails, the source is
   * thawed.
   */
  LIVE("Live"),

  /**
   * The source is checkpointed and deleted before the target is created, for pods that cannot run
   * at the same time. After the deletion the source cannot be thawed.
   */
  RECREATE("Recreate"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  MigrationStrategy(String word) {
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
