package dev.stasis.operator.operation;

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
}
