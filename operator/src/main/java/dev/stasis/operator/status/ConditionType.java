package dev.stasis.operator.status;

/** The aspects of an object that have a condition. */
public enum ConditionType {
  /** GpuCheckpoint: a verified artifact can be restored. The summary condition. */
  READY("Ready"),
  /** GpuRestore and GpuMigration: finished and verified. The summary condition. */
  SUCCEEDED("Succeeded"),
  /** It failed, and nothing more is tried. */
  FAILED("Failed"),
  /**
   * Work is in progress. Only ever True; its name is that of kstatus, by which Flux, Argo and
   * others know when to wait.
   */
  RECONCILING("Reconciling"),
  /**
   * It has ended without reaching the requested state. Only ever True; its name is that of kstatus.
   */
  STALLED("Stalled"),
  /** The frozen workload runs in its original place. */
  SOURCE_RUNNING("SourceRunning"),
  /** GpuCheckpoint: the artifact is on the disk of its node, from where it is uploaded. */
  STORED_LOCALLY("StoredLocally"),
  /** GpuCheckpoint: the artifact is in the remote store. */
  STORED("Stored"),
  /** The workload stays in the memory of its node. */
  SUSPENDED("Suspended"),
  /** A node matches now. */
  RESTORABLE("Restorable"),
  /** With dryRun: the freeze is possible. */
  FEASIBLE("Feasible"),
  /** A migration was undone: the source keeps running. */
  ROLLED_BACK("RolledBack"),
  /** The workload had a cold start. */
  COLD_STARTED("ColdStarted"),
  /** The pod's memory limit has its old value again. */
  ROOM_RETURNED("RoomReturned"),
  /** Only ever False: its reconciliation keeps failing because of a bug of the operator. */
  RECONCILED("Reconciled");

  private final String word;

  ConditionType(String word) {
    this.word = word;
  }

  /** Returns the value in the API. */
  public String value() {
    return word;
  }
}
