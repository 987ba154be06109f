package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** What the agent is asked to do. */
public enum OperationType {
  /** Freeze a container and write an artifact; or, with explainOnly, say what that would do. */
  CHECKPOINT("Checkpoint"),

  /** Freeze a container in memory, without an artifact. */
  SUSPEND("Suspend"),

  /** Let a suspended container go on. */
  RESUME("Resume"),

  /** Let a container go on that an operation left frozen. */
  THAW("Thaw"),

  /**
   * End the processes of a container that an operation left frozen, once its pod is being deleted.
   */
  END("End"),

  /** Restore an artifact into a holder. */
  RESTORE("Restore"),

  /** Stream an artifact to another agent. */
  SEND("Send"),

  /** Take an artifact that another agent streams into a store of this node. */
  RECEIVE("Receive"),

  /** Check every byte of an artifact that lies in a store already, and say what is in it. */
  IMPORT("Import"),

  /** Delete an artifact. */
  DELETE_ARTIFACT("DeleteArtifact");

  private final String word;

  OperationType(String word) {
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
