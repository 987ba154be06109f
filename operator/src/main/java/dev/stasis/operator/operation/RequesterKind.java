package dev.stasis.operator.operation;

import dev.stasis.api.v1beta1.common.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/** Kinds with operations. */
public enum RequesterKind {
  /** A GpuCheckpoint. */
  CHECKPOINT("GpuCheckpoint", "ckpt"),

  /** A GpuRestore. */
  RESTORE("GpuRestore", "rst"),

  /** A GpuMigration. */
  MIGRATION("GpuMigration", "mig");

  private final String kind;
  private final String prefix;

  RequesterKind(String kind, String prefix) {
    this.kind = kind;
    this.prefix = prefix;
  }

  /** The kind as in the API. */
  public String kind() {
    return kind;
  }

  /** The prefix of its operations' names. */
  public String prefix() {
    return prefix;
  }

  public ObjectReference reference(ObjectMeta object) {
    return new ObjectReference(kind, object.getNamespace(), object.getName(), object.getUid());
  }
}
