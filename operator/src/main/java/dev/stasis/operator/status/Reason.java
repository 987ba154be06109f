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
  /** The artifact is not whole, or not the one that was to be imported. */
  NOT_IMPORTED("NotImported"),
  /** Another object has the artifact already. */
  ALREADY_IMPORTED("AlreadyImported"),
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
  /** The workload still stands still; its agent tries again to thaw it. */
  NOT_THAWED("NotThawed"),
  /** The workload stays in memory. */
  SUSPENDED("Suspended"),
  /** The workload runs, on a GPU that it shares by turns. */
  HAS_ITS_TURN("HasItsTurn", "Turn"),
  /** The workload is suspended; others have their turn on its GPU first. */
  WAITS_FOR_ITS_TURN("WaitsForItsTurn", "WaitsForTurn"),
  /** The pod was removed on purpose, after the artifact was safe. */
  EVICTED("Evicted"),
  /** The workload did not survive. */
  WORKLOAD_LOST("WorkloadLost"),
  /** The eviction API refuses to remove the pod. */
  EVICTION_REFUSED("EvictionRefused", "NotEvicted"),
  /** The artifact is safe; the pod goes when its eviction is asked for the next time. */
  WAITING_FOR_EVICTION("WaitingForEviction", "Eviction"),
  /** The pod is saved before it is evicted. */
  SAVED_FIRST("SavedFirst"),
  /** The pod was evicted though it could not be saved in time. */
  EVICTED_UNSAVED("EvictedUnsaved"),
  /** Nobody asks for the eviction of the pod any more. */
  EVICTION_GIVEN_UP("EvictionGivenUp", "GivenUp"),
  /** A controller owns the pod, and would start another one cold in its place. */
  OWNED_POD("OwnedPod"),
  /** The pod has other containers, whose state is no part of a checkpoint. */
  OTHER_CONTAINERS("OtherContainers", "Containers"),
  /** Another operation has the pod in hand. */
  ANOTHER_OPERATION("AnotherOperation", "Busy"),
  /** As many as the node may have in the making are in the making. */
  NODE_BUSY("NodeBusy", "Busy"),
  /** As many of the namespace as may be unfinished are unfinished. */
  TOO_MANY_CHECKPOINTS("TooManyCheckpoints", "Busy"),
  /** The node is gone. */
  NODE_GONE("NodeGone"),
  /** Somebody still needs it. */
  IN_USE("InUse"),
  /** Nobody asks for it now. */
  NOT_SUSPENDED("NotSuspended"),
  /** The artifact is deleted. */
  ARTIFACT_DELETED("ArtifactDeleted"),
  /** The artifact stays in the store. */
  ARTIFACT_RETAINED("ArtifactRetained", "Retained"),
  /** Nobody waits any more for a node or an agent that does not answer. */
  RELEASED("Released"),
  /** Nobody can say, since the node does not answer. */
  NODE_SILENT("NodeSilent"),
  /** A property of the workload keeps it from being restored in another pod. */
  NOT_PORTABLE("NotPortable"),
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
  /** The store is a disk of one node, and another node has to reach it. */
  STORE_NOT_SHARED("StoreNotShared"),

  /** The GpuCheckpointStore cannot be written to. */
  STORE_NOT_WRITABLE("StoreNotWritable", "StoreReadOnly"),
  /** It can be written to. */
  STORE_READY("StoreReady", "Ready"),
  /** More than one GpuCheckpointStore is marked as default. */
  SEVERAL_DEFAULTS("SeveralDefaults"),
  /** The GpuCheckpointStore is not for this namespace. */
  NAMESPACE_NOT_ALLOWED("NamespaceNotAllowed", "NotAllowed"),
  /** The GpuCheckpointStore holds as much as its quota allows. */
  QUOTA_EXCEEDED("QuotaExceeded", "Quota"),
  /** The file system of the GpuCheckpointStore has no room. */
  STORE_FULL("StoreFull"),
  /** The artifact belongs to another namespace. */
  OTHER_NAMESPACE("OtherNamespace"),
  /** The name of the target is another pod's. */
  TARGET_TAKEN("TargetTaken"),
  /** The controller of the pod is still there and would make another one in its place. */
  OWNER_LIVES("OwnerLives"),
  /** The scheduler has found no node for the target yet. */
  TARGET_NOT_SCHEDULED("TargetNotScheduled", "Unscheduled"),
  /** The image of the target, or of its holder, cannot be had. */
  IMAGE_NOT_AVAILABLE("ImageNotAvailable", "NoImage"),
  /** The target is coming up. */
  TARGET_STARTING("TargetStarting", "Starting"),
  /** The target was deleted, evicted or has ended before the proof. */
  TARGET_LOST("TargetLost"),
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
  /** As many pods are being moved as the installation allows. */
  TOO_MANY_MIGRATIONS("TooManyMigrations", "Throttled"),
  /** A volume of the pod cannot be used on another node while it is used on its own. */
  VOLUME_CANNOT_FOLLOW("VolumeCannotFollow", "Volume"),
  /** The workload did not get to the other node. */
  TRANSFER_FAILED("TransferFailed"),
  /** The frozen workload is not what it was any more: its pod or its container is another one. */
  SOURCE_LOST("SourceLost"),
  /** The target runs, with proof; the source is removed. */
  SWITCHED_OVER("SwitchedOver"),
  /** Everything was undone and the source goes on. */
  ROLLED_BACK("RolledBack"),
  /** Runs begin as the schedule says. */
  SCHEDULED("Scheduled"),
  /** No runs begin, since its user wants none. */
  NOT_SCHEDULED("NotScheduled", "Paused"),
  /** A run of a schedule has begun. */
  RUN_BEGUN("RunBegun"),
  /** A run of a schedule was left out. */
  RUN_SKIPPED("RunSkipped"),
  /** Schedule or time zone cannot be read. */
  INVALID_SCHEDULE("InvalidSchedule", "Invalid"),
  /** The selector cannot be read. */
  INVALID_SELECTOR("InvalidSelector", "Invalid"),
  /** No pod with GPUs has such labels. */
  NO_POD_MATCHES("NoPodMatches", "NoPod"),
  /** A pod that failed is being brought back. */
  BRINGING_BACK("BringingBack"),
  /** A damaged or unreachable checkpoint was left out. */
  CHECKPOINT_SKIPPED("CheckpointSkipped", "Skipped"),
  /** The pod has ended as failed. */
  POD_FAILED("PodFailed"),
  /** The pod's container was started anew. */
  CONTAINER_RESTARTED("ContainerRestarted", "Restarted"),
  /** The cluster, not its user, removed the pod. */
  POD_DISRUPTED("PodDisrupted"),
  /** The pod's node has been away for longer than fenceAfter. */
  NODE_LOST("NodeLost"),
  /** A pod that failed is not brought back. */
  NOT_BROUGHT_BACK("NotBroughtBack"),
  /** A checkpoint that is no longer to be kept is deleted. */
  RETENTION("Retention"),
  /** The policy watches for pods that wait. */
  WATCHING("Watching"),
  /** The policy takes no victims, since its user wants none. */
  PAUSED("Paused"),
  /** The scheduler would delete victims by itself, before anybody can freeze them. */
  SCHEDULER_PREEMPTS_FIRST("SchedulerPreemptsFirst", "PreemptsFirst"),
  /** An older policy is for the same preemptors. */
  CONFLICTING_POLICIES("ConflictingPolicies", "Conflict"),
  /** Pods are being frozen to make room for another one. */
  ROOM_BEING_MADE("RoomBeingMade", "MakingRoom"),
  /** Room is made; the scheduler places the pod. */
  ROOM_MADE("RoomMade"),
  /** The pod for which room was made has its node. */
  PREEMPTOR_PLACED("PreemptorPlaced", "Placed"),
  /** The pod for which room was to be made needs none any more. */
  PREEMPTOR_GONE("PreemptorGone"),
  /** Nobody yields: the pod would still not fit. */
  NO_VICTIMS("NoVictims"),
  /** The pod yields to a more important one, and comes back by itself. */
  YIELDS("Yields"),
  /** A pod that had yielded is back. */
  BACK("Back");

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
