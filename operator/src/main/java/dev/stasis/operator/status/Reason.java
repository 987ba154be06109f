package dev.stasis.operator.status;

import dev.stasis.api.v1beta1.common.Fault;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The reason of a condition, and of everything else that shows it: a closed list with one value for
 * each fact, the same for every kind.
 */
public enum Reason {
  /** Nothing was done yet. */
  WAITING("Waiting"),
  /** The GpuCheckpoint is not Ready yet. */
  WAITING_FOR_CHECKPOINT("WaitingForCheckpoint"),
  /** No node matches now. */
  NO_NODE_FITS("NoNodeFits"),
  /** The agent of the node has not claimed the operation. */
  WAITING_FOR_AGENT("WaitingForAgent"),
  /** The pod is being resized before the freeze. */
  MAKING_ROOM("MakingRoom"),
  /** The API server refused the target pod, or the GpuRestore of a preempted pod. */
  REFUSED_BY_CLUSTER("RefusedByCluster"),
  /** The operation is in progress. */
  IN_PROGRESS("InProgress"),
  /** The artifact is published, and its digests are correct. */
  ARTIFACT_VERIFIED("ArtifactVerified"),
  /** The artifact is on the disk of its node and is being uploaded to the remote store. */
  UPLOADING("Uploading"),
  /** The upload failed and is retried. */
  UPLOAD_FAILED("UploadFailed"),
  /** The artifact is in the remote store. */
  UPLOADED("Uploaded"),
  /** A verification of the artifact found damage. */
  ARTIFACT_DAMAGED("ArtifactDamaged"),
  /** The artifact could not be verified, because its store could not be read. */
  NOT_VERIFIED("NotVerified"),
  /** There is nothing to restore. */
  NO_ARTIFACT("NoArtifact"),
  /** The artifact is incomplete, or not the one to be imported. */
  NOT_IMPORTED("NotImported"),
  /** Another object has the artifact already. */
  ALREADY_IMPORTED("AlreadyImported"),
  /** The artifact is gone or damaged. */
  ARTIFACT_LOST("ArtifactLost"),
  /** Every process runs and has its device memory. */
  PROVEN("Proven"),
  /** The workload had a cold start, as coldStartPolicy allows. */
  COLD_STARTED("ColdStarted"),
  /** The workload was not touched. */
  UNTOUCHED("Untouched"),
  /** The workload is frozen while an operation works on it. */
  FROZEN("Frozen"),
  /** The workload has resumed. */
  RESUMED("Resumed"),
  /** The freeze was undone; the workload has resumed. */
  THAWED("Thawed"),
  /** The workload is still frozen; its agent retries the thaw. */
  NOT_THAWED("NotThawed"),
  /** The workload is suspended in memory. */
  SUSPENDED("Suspended"),
  /** The workload runs, on a time-sliced GPU. */
  HAS_TURN("HasTurn"),
  /** The workload is suspended; other workloads run first on its time-sliced GPU. */
  WAITS_FOR_TURN("WaitsForTurn"),
  /** The pod was removed intentionally, after the artifact was stored. */
  EVICTED("Evicted"),
  /** The workload was lost. */
  WORKLOAD_LOST("WorkloadLost"),
  /** The eviction API refuses to remove the pod. */
  EVICTION_REFUSED("EvictionRefused"),
  /** The artifact is stored; the pod is removed when its eviction is requested the next time. */
  WAITING_FOR_EVICTION("WaitingForEviction"),
  /** The pod is being checkpointed before it is evicted. */
  SAVED_FIRST("SavedFirst"),
  /** The API server refuses a GpuCheckpoint, for example because of a quota. */
  CHECKPOINT_REFUSED("CheckpointRefused"),
  /** The pod was evicted because it could not be checkpointed in time. */
  EVICTED_UNSAVED("EvictedUnsaved"),
  /** The eviction of the pod is no longer requested. */
  EVICTION_GIVEN_UP("EvictionGivenUp"),
  /** The pod has a controller, which would create another one with a cold start. */
  OWNED_POD("OwnedPod"),
  /** The pod has other containers, whose state is not part of a checkpoint. */
  OTHER_CONTAINERS("OtherContainers"),
  /** Another operation uses the pod. */
  ANOTHER_OPERATION("AnotherOperation"),
  /** The node has reached its maximum number of GpuCheckpoints in progress. */
  NODE_BUSY("NodeBusy"),
  /** The namespace has reached its maximum number of unfinished GpuCheckpoints. */
  TOO_MANY_CHECKPOINTS("TooManyCheckpoints"),
  /** The node is gone. */
  NODE_GONE("NodeGone"),
  /** Another object still needs it. */
  IN_USE("InUse"),
  /** It is no longer requested. */
  NOT_SUSPENDED("NotSuspended"),
  /** The artifact is deleted. */
  ARTIFACT_DELETED("ArtifactDeleted"),
  /** The artifact is kept in the store. */
  ARTIFACT_RETAINED("ArtifactRetained"),
  /** The wait for an unresponsive node or agent has ended. */
  RELEASED("Released"),
  /** Unknown, since the node does not respond. */
  NODE_SILENT("NodeSilent"),
  /** A property of the workload prevents a restore in another pod. */
  NOT_PORTABLE("NotPortable"),
  /** Some nodes match. */
  NODES_FIT("NodesFit"),
  /** Nothing prevents it. */
  FEASIBLE("Feasible"),
  /** Something prevents it; the faults have the details. */
  PREFLIGHT_REFUSED("PreflightRefused"),
  /** The named pod does not exist. */
  POD_NOT_FOUND("PodNotFound"),
  /** The pod does not run. */
  POD_NOT_RUNNING("PodNotRunning"),
  /** The pod with that name is a different one. */
  POD_CHANGED("PodChanged"),
  /** No container of the pod has a GPU. */
  NO_GPU("NoGpu"),
  /** Several containers have GPUs, and none is named. */
  CONTAINER_AMBIGUOUS("ContainerAmbiguous"),
  /** The pod has no such container. */
  CONTAINER_NOT_FOUND("ContainerNotFound"),
  /** The GpuCheckpointStore does not exist. */
  STORE_NOT_FOUND("StoreNotFound"),
  /** The store is on the disk of one node, but another node needs access. */
  STORE_NOT_SHARED("StoreNotShared"),
  /** The GpuCheckpointStore is not writable. */
  STORE_NOT_WRITABLE("StoreNotWritable"),
  /** The KMS plugin of the node does not answer, so the GpuCheckpointStore cannot encrypt. */
  STORE_KMS_UNREACHABLE("StoreKmsUnreachable"),
  /** The KMS plugin of the node reports that it cannot encrypt. */
  STORE_KMS_UNHEALTHY("StoreKmsUnhealthy"),
  /** The KMS plugin of the node encrypts with another key than the expected one. */
  STORE_KMS_KEY_MISMATCH("StoreKmsKeyMismatch"),
  /** The KMS plugin of the node answers what the KMS v2 API does not allow. */
  STORE_KMS_INVALID_RESPONSE("StoreKmsInvalidResponse"),
  /** The key that encrypts the GpuCheckpointStore, or that has wrapped a data key, is missing. */
  STORE_MISSING_KEY("StoreMissingKey"),
  /** The key of the GpuCheckpointStore does not decrypt what it has encrypted. */
  STORE_WRONG_KEY("StoreWrongKey"),
  /** The PersistentVolumeClaim of the GpuCheckpointStore cannot be used. */
  CLAIM_NOT_USABLE("ClaimNotUsable"),
  /** The GpuCheckpointStore is writable. */
  STORE_READY("StoreReady"),
  /** More than one GpuCheckpointStore is marked as default. */
  SEVERAL_DEFAULTS("SeveralDefaults"),
  /** The namespace may not use the GpuCheckpointStore. */
  NAMESPACE_NOT_ALLOWED("NamespaceNotAllowed"),
  /** The GpuCheckpointStore has reached its quota. */
  QUOTA_EXCEEDED("QuotaExceeded"),
  /** The file system of the GpuCheckpointStore is full. */
  STORE_FULL("StoreFull"),
  /** The artifact belongs to another namespace. */
  OTHER_NAMESPACE("OtherNamespace"),
  /** Another pod has the name of the target. */
  TARGET_TAKEN("TargetTaken"),
  /** The controller of the pod still exists and would create another one in its place. */
  OWNER_LIVES("OwnerLives"),
  /** The scheduler has found no node for the target yet. */
  UNSCHEDULED("Unscheduled"),
  /** The image of the target, or of its holder, cannot be pulled. */
  IMAGE_NOT_AVAILABLE("ImageNotAvailable"),
  /** The target is starting. */
  STARTING("Starting"),
  /** The target was deleted, evicted or ended before the verification. */
  TARGET_LOST("TargetLost"),
  /** The target has a property that prevents the restore. */
  INCOMPATIBLE("Incompatible"),
  /** A liveness or startup probe would fail during the freeze. */
  PROBE_TOO_SHORT("ProbeTooShort"),
  /** The activeDeadlineSeconds of the pod or its Job ends during the freeze. */
  ACTIVE_DEADLINE_TOO_SHORT("ActiveDeadlineTooShort"),
  /** There is not enough memory for the device memory. */
  NO_ROOM("NoRoom"),
  /** The memory limit has its old value. */
  LIMIT_RETURNED("LimitReturned"),
  /** The memory limit is still raised. */
  LIMIT_RAISED("LimitRaised"),
  /** It exceeded its deadline; everything is undone. */
  DEADLINE_EXCEEDED("DeadlineExceeded"),
  /** Its user canceled it; everything is undone. */
  CANCELLED("Cancelled"),
  /** The operator cannot reconcile the object because of a bug. */
  RECONCILE_FAILED("ReconcileFailed"),
  /** A newer release has written a value that this operator does not know; it changes nothing. */
  UNRECOGNIZED_VALUE("UnrecognizedValue"),
  /** The agent's operation failed; the faults have the details. */
  OPERATION_FAILED("OperationFailed"),
  /** The target did not start or was not verified. */
  RESTORE_FAILED("RestoreFailed"),
  /** The maximum number of pods is being moved. */
  TOO_MANY_MIGRATIONS("TooManyMigrations"),
  /** A volume of the pod cannot be used on another node while it is used on its own. */
  VOLUME_CANNOT_FOLLOW("VolumeCannotFollow"),
  /** The workload did not reach the other node. */
  TRANSFER_FAILED("TransferFailed"),
  /** The frozen workload has changed: its pod or its container is a different one. */
  SOURCE_LOST("SourceLost"),
  /** The target runs and is verified; the source is removed. */
  SWITCHED_OVER("SwitchedOver"),
  /** Everything was undone and the source keeps running. */
  ROLLED_BACK("RolledBack"),
  /** Runs start as scheduled. */
  SCHEDULED("Scheduled"),
  /** A run of a schedule has started. */
  RUN_BEGUN("RunBegun"),
  /** A run of a schedule was skipped. */
  RUN_SKIPPED("RunSkipped"),
  /** Schedule or time zone is invalid. */
  INVALID_SCHEDULE("InvalidSchedule"),
  /** The selector is invalid. */
  INVALID_SELECTOR("InvalidSelector"),
  /** No pod with GPUs has matching labels. */
  NO_POD_MATCHES("NoPodMatches"),
  /** A failed pod is being restored. */
  BRINGING_BACK("BringingBack"),
  /** A damaged or unreachable checkpoint was skipped. */
  CHECKPOINT_SKIPPED("CheckpointSkipped"),
  /** The pod has failed. */
  POD_FAILED("PodFailed"),
  /** The pod's container was restarted. */
  CONTAINER_RESTARTED("ContainerRestarted"),
  /** The cluster, not its user, removed the pod. */
  POD_DISRUPTED("PodDisrupted"),
  /** The pod's node has been away for longer than fenceAfter. */
  NODE_LOST("NodeLost"),
  /** A failed pod is not restored. */
  NOT_BROUGHT_BACK("NotBroughtBack"),
  /** An expired checkpoint is deleted. */
  RETENTION("Retention"),
  /** The policy watches pending pods. */
  WATCHING("Watching"),
  /** The user has suspended the schedule or the policy: it starts no runs, or preempts no pods. */
  PAUSED("Paused"),
  /** The scheduler would delete victims itself, before they can be frozen. */
  SCHEDULER_PREEMPTS_FIRST("SchedulerPreemptsFirst"),
  /** An older policy applies to the same preemptors. */
  CONFLICTING_POLICIES("ConflictingPolicies"),
  /** Pods are being frozen for a preemptor. */
  ROOM_BEING_MADE("RoomBeingMade"),
  /** The victims are removed; the scheduler places the preemptor. */
  ROOM_MADE("RoomMade"),
  /** The preemptor has its node. */
  PREEMPTOR_PLACED("PreemptorPlaced"),
  /** The preemptor no longer needs a preemption. */
  PREEMPTOR_GONE("PreemptorGone"),
  /** No pod is preempted: the preemptor would still not fit. */
  NO_VICTIMS("NoVictims"),
  /** The pod is preempted by one with a higher priority, and is restored automatically. */
  YIELDS("Yields"),
  /** A preempted pod is restored. */
  BACK("Back");

  private final String word;

  Reason(String word) {
    this.word = word;
  }

  /** Returns the reason with that value; empty if only agents know it. */
  public static Optional<Reason> find(String word) {
    return Arrays.stream(values()).filter(reason -> reason.word.equals(word)).findFirst();
  }

  /** Returns a fault with this reason, for a requirement that is not met. */
  public Fault misfit(String property, String wanted, String found) {
    return Fault.misfit(word, property, wanted, found);
  }

  /** Returns whether a condition, a fault or a status has this reason. */
  public boolean is(@Nullable String reason) {
    return word.equals(reason);
  }

  /** Returns the value in conditions, events, metrics and the column REASON. */
  public String value() {
    return word;
  }
}
