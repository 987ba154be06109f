package dev.stasis.operator.operation;

/** Kinds on whose behalf agents work. */
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

  /** How names of its operations begin. */
  public String prefix() {
    return prefix;
  }
}
