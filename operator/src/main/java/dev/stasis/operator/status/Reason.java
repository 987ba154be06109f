package dev.stasis.operator.status;

/** Why a condition is as it is: a closed list, the same words for every kind. */
public enum Reason {
  /** Nothing is done yet. */
  WAITING("Waiting"),
  /** The GpuCheckpoint is not Ready yet. */
  WAITING_FOR_CHECKPOINT("WaitingForCheckpoint", "Checkpoint"),
  /** No node fits now. */
  NO_NODE_FITS("NoNodeFits"),
  /** The agent of the node has not taken the operation. */
  WAITING_FOR_AGENT("WaitingForAgent", "Agent"),
  /** The pod is being resized before the freeze. */
  MAKING_ROOM("MakingRoom"),
  /** The API server refused the target pod. */
  REFUSED_BY_CLUSTER("RefusedByCluster", "Refused"),
  /** The work goes on. */
  IN_PROGRESS("InProgress", "Working"),
  /** The artifact is published, and its digests are right. */
  ARTIFACT_VERIFIED("ArtifactVerified", "Verified"),
  /** There is nothing to restore. */
  NO_ARTIFACT("NoArtifact"),
  /** The artifact is gone or damaged. */
  ARTIFACT_LOST("ArtifactLost"),
  /** Every process runs and has its device memory. */
  PROVEN("Proven"),
  /** The workload was started from its image, as coldStartFallback allows. */
  COLD_STARTED("ColdStarted"),
  /** Nobody touched the workload. */
  UNTOUCHED("Untouched"),
  /** The workload stands still while an operation works on it. */
  FROZEN("Frozen"),
  /** The workload goes on. */
  RESUMED("Resumed"),
  /** The freeze was undone; the workload goes on. */
  THAWED("Thawed"),
  /** The workload stays in memory. */
  SUSPENDED("Suspended"),
  /** The pod was removed on purpose, after the artifact was safe. */
  EVICTED("Evicted"),
  /** The workload did not survive. */
  WORKLOAD_LOST("WorkloadLost"),
  /** Nobody can say, since the node does not answer. */
  NODE_SILENT("NodeSilent"),
  /** Some nodes fit. */
  NODES_FIT("NodesFit"),
  /** Nothing stands against it. */
  NOTHING_AGAINST_IT("NothingAgainstIt", "Feasible"),
  /** Something stands against it; the faults say what. */
  PREFLIGHT_REFUSED("PreflightRefused", "Refused"),
  /** The pod that is named is not there. */
  POD_NOT_FOUND("PodNotFound"),
  /** The pod does not run. */
  POD_NOT_RUNNING("PodNotRunning"),
  /** The pod of that name is another one. */
  POD_CHANGED("PodChanged"),
  /** No container of the pod has a GPU. */
  NO_GPU("NoGpu"),
  /** Several containers have GPUs, and none is named. */
  CONTAINER_AMBIGUOUS("ContainerAmbiguous", "Ambiguous"),
  /** The pod has no such container. */
  CONTAINER_NOT_FOUND("ContainerNotFound", "NoContainer"),
  /** The GpuCheckpointStore is not there. */
  STORE_NOT_FOUND("StoreNotFound"),
  /** The GpuCheckpointStore cannot be written to. */
  STORE_NOT_WRITABLE("StoreNotWritable", "StoreReadOnly"),
  /** The artifact belongs to another namespace. */
  OTHER_NAMESPACE("OtherNamespace"),
  /** The name of the target is another pod's. */
  TARGET_TAKEN("TargetTaken"),
  /** The target differs in a property that decides. */
  INCOMPATIBLE("Incompatible"),
  /** A liveness or startup probe would fail before the freeze is over. */
  LIVENESS_PROBE_TOO_SHORT("LivenessProbeTooShort", "ProbeTooShort"),
  /** The pod's or its job's activeDeadlineSeconds ends before the freeze is over. */
  ACTIVE_DEADLINE_TOO_SHORT("ActiveDeadlineTooShort", "PodDeadline"),
  /** There is no room for the device memory. */
  NO_ROOM("NoRoom"),
  /** The memory limit is what it was. */
  LIMIT_RETURNED("LimitReturned"),
  /** The memory limit is still raised. */
  LIMIT_STILL_RAISED("LimitStillRaised", "LimitRaised"),
  /** It was not done in time; everything is undone. */
  DEADLINE_EXCEEDED("DeadlineExceeded", "Deadline"),
  /** Its user cancelled it; everything is undone. */
  CANCELLED("Cancelled"),
  /** The agent's work failed; the faults say where. */
  OPERATION_FAILED("OperationFailed", "Failed"),
  /** The target did not come up or was not proven. */
  RESTORE_FAILED("RestoreFailed", "Failed"),
  /** Everything was undone and the source goes on. */
  ROLLED_BACK("RolledBack");

  private final String word;
  private final String column;

  Reason(String word) {
    this(word, word);
  }

  Reason(String word, String column) {
    this.word = word;
    this.column = column;
  }

  /** The word as it stands in a condition. */
  public String word() {
    return word;
  }

  /** The same, short enough for the last column of {@code kubectl get}. */
  public String column() {
    return column;
  }
}
