package dev.stasis.operator.status;

/** The aspects of an object that have a condition. */
public enum ConditionType {
  /** GpuCheckpoint: a verified artifact can be restored. Its summary. */
  READY("Ready"),
  /** GpuRestore and GpuMigration: it is done, with proof. Their summary. */
  SUCCEEDED("Succeeded"),
  /** It could not be done, and nothing more will be tried. */
  FAILED("Failed"),
  /** The frozen workload runs where it was. */
  SOURCE_RUNNING("SourceRunning"),
  /** The workload stays in the memory of its node. */
  SUSPENDED("Suspended"),
  /** A node fits now. */
  RESTORABLE("Restorable"),
  /** With explainOnly: it could be done. */
  FEASIBLE("Feasible"),
  /** A migration was undone: the source goes on. */
  ROLLED_BACK("RolledBack"),
  /** The workload was started from its image. */
  COLD_STARTED("ColdStarted"),
  /** The pod's memory limit is again what it was. */
  ROOM_RETURNED("RoomReturned");

  private final String word;

  ConditionType(String word) {
    this.word = word;
  }

  /** The word as it stands in the API. */
  public String word() {
    return word;
  }
}
