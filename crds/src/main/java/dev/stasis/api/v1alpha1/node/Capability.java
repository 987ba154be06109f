package dev.stasis.api.v1alpha1.node;

import com.fasterxml.jackson.annotation.JsonValue;

/** What an agent can do on its node. */
public enum Capability {
  /** Freeze and dump. */
  CHECKPOINT("Checkpoint"),

  /** Restore into a holder. */
  RESTORE("Restore"),

  /** Suspend in memory. */
  SUSPEND("Suspend"),

  /** Copy device regions itself. */
  MOVER("Mover"),

  /** Move device memory straight to its destination. */
  DIRECT("Direct"),

  /** Restore onto other GPUs of the same model, which needs driver 580. */
  UUID_MAP("UuidMap"),

  /** Send and receive a workload. */
  STREAM("Stream"),

  /** Lower a raised memory limit again, which needs Kubernetes 1.34. */
  RESIZE_BACK("ResizeBack");

  private final String word;

  Capability(String word) {
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
