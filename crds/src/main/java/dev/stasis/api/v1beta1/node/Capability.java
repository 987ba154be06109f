package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonValue;

/** Capabilities of an agent on its node. */
public enum Capability {
  /** Checkpoint a pod. */
  CHECKPOINT("Checkpoint"),

  /** Restore a pod. */
  RESTORE("Restore"),

  /** Suspend a pod in host memory. */
  SUSPEND("Suspend"),

  /** Copy memory regions with the mover instead of CRIU. */
  MOVER("Mover"),

  /** Move device memory directly to its destination. */
  DIRECT("Direct"),

  /** Restore to other GPUs of the same model. Requires driver 580. */
  UUID_MAP("UuidMap"),

  /** Stream a workload from and to other agents. */
  STREAM("Stream"),

  /** Lower a raised memory limit. Requires Kubernetes 1.34. */
  RESIZE_BACK("ResizeBack"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  Capability(String word) {
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
