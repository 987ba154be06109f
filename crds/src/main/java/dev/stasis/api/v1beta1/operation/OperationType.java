package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonValue;

/** Type of an operation. */
public enum OperationType {
  /** Freezes a container and writes an artifact; with dryRun only reports what it would do. */
  CHECKPOINT("Checkpoint"),

  /** Suspends a container in host memory, without an artifact. */
  SUSPEND("Suspend"),

  /** Resumes a suspended container. */
  RESUME("Resume"),

  /** Thaws a container that an operation left frozen. */
  THAW("Thaw"),

  /**
   * Ends the processes of a container that an operation left frozen, while its pod is being
   * deleted.
   */
  END("End"),

  /** Restores an artifact into the holder of a target pod. */
  RESTORE("Restore"),

  /** Streams an artifact to another agent. */
  SEND("Send"),

  /** Receives an artifact from another agent and stores it on this node. */
  RECEIVE("Receive"),

  /** Verifies every byte of an artifact that is already in a store and reports its contents. */
  IMPORT("Import"),

  /** Uploads an artifact of this node to its remote store. */
  UPLOAD("Upload"),

  /** Downloads an artifact from its remote store to this node. */
  DOWNLOAD("Download"),

  /** Verifies every byte of an artifact in its store, slowly. */
  VERIFY("Verify"),

  /** Records beside an artifact that it outlives its object. */
  RETAIN_ARTIFACT("RetainArtifact"),

  /** Deletes an artifact. */
  DELETE_ARTIFACT("DeleteArtifact"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  OperationType(String word) {
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
