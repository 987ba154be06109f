package dev.stasis.api.v1alpha1.migration;

import com.fasterxml.jackson.annotation.JsonValue;

/** Which pod is there first. */
public enum MigrationOrder {
  /**
   * The target holds its GPUs before the source is touched; the source is thawed when anything
   * fails.
   */
  TARGET_FIRST("TargetFirst"),

  /**
   * The source is checkpointed and removed first, for pods that cannot exist beside each other;
   * afterwards it cannot be thawed.
   */
  SOURCE_FIRST("SourceFirst");

  private final String word;

  MigrationOrder(String word) {
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
