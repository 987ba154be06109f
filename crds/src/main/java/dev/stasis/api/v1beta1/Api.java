package dev.stasis.api.v1beta1;

import java.util.Map;

/** API group, version, labels and annotations of Stasis, and the patch that cancels a request. */
public final class Api {
  /** The API group. */
  public static final String GROUP = "stasis.dev";

  /** The version of the group. */
  public static final String VERSION = "v1beta1";

  /** Category of the kinds that users own: {@code kubectl get stasis} lists them. */
  public static final String CATEGORY = "stasis";

  /** Category of the kinds of administrators and of Stasis itself. */
  public static final String SYSTEM_CATEGORY = "stasis-system";

  /** Label of a GpuNodeOperation: the node whose agent watches for it. */
  public static final String NODE_LABEL = GROUP + "/node";

  /**
   * Annotation of a GpuNodeOperation: the parent span of the agent's spans, as in the W3C header
   * {@code traceparent}. Absent when tracing is off.
   */
  public static final String TRACEPARENT_ANNOTATION = GROUP + "/traceparent";

  /** Label: UID of the object for which an operation or a pod was created. */
  public static final String OPERATION_UID_LABEL = GROUP + "/operation-uid";

  /** Label: name of the GpuCheckpoint from which a pod was restored, or of its GpuMigration. */
  public static final String CHECKPOINT_LABEL = GROUP + "/checkpoint";

  /** Label of a GpuCheckpoint or GpuRestore: name of the GpuCheckpointSchedule that created it. */
  public static final String SCHEDULE_LABEL = GROUP + "/schedule";

  /** Label of a GpuCheckpoint or GpuRestore: name of the GpuPreemptionPolicy that created it. */
  public static final String POLICY_LABEL = GROUP + "/policy";

  /** Label of a pod that keeps the volume of a claim mounted: name of the GpuCheckpointStore. */
  public static final String STORE_LABEL = GROUP + "/store";

  /** Label of a pod or namespace: pods are checkpointed before an eviction. */
  public static final String PROTECT_LABEL = GROUP + "/protect";

  /** Annotation of a protected pod: how long an eviction may be delayed. Default: {@code 10m}. */
  public static final String EVICT_DEADLINE_ANNOTATION = GROUP + "/evict-deadline";

  /**
   * Label of a pod or namespace: new pods are made restorable. {@code true}, or {@code ranks} for
   * several NCCL ranks in one container.
   */
  public static final String PREPARE_LABEL = GROUP + "/prepare";

  /**
   * Label of a pod or namespace: requests the direct data path. The only value is {@code direct}.
   */
  public static final String DATA_PATH_LABEL = GROUP + "/data-path";

  /** Annotation of such a pod: what was set, and what was left as the user set it. */
  public static final String PREPARED_ANNOTATION = GROUP + "/prepared";

  /**
   * Label of a pod whose eviction is delayed, and of the objects created for it: UID of the pod.
   */
  public static final String EVICTION_LABEL = GROUP + "/eviction";

  /** Annotation of a GpuCheckpoint for an eviction: time of the first eviction request. */
  public static final String EVICT_SINCE_ANNOTATION = GROUP + "/evict-since";

  /** Annotation of a GpuCheckpoint for an eviction: time of the last eviction request. */
  public static final String EVICT_REQUESTED_ANNOTATION = GROUP + "/evict-requested";

  /** Annotation of a GpuCheckpoint for an eviction: name of the GpuRestore created for the pod. */
  public static final String EVICT_RESTORE_ANNOTATION = GROUP + "/evict-restore";

  /** Annotation of a restored pod: namespace and name of its GpuRestore. */
  public static final String RESTORED_FROM_ANNOTATION = GROUP + "/restored-from";

  /**
   * Annotation of a restored pod whose image is in no registry: name of the image. The pod's spec
   * has only the image ID.
   */
  public static final String IMAGE_ANNOTATION = GROUP + "/image";

  /** Annotation of a restored pod with a different name: name of the first pod. */
  public static final String FIRST_NAME_ANNOTATION = GROUP + "/first-name";

  /**
   * Annotation of a restored pod: UIDs of the pods in which its workload ran before, each with the
   * time of the state from which it was restored.
   */
  public static final String FORMER_PODS_ANNOTATION = GROUP + "/former-pods";

  /** Annotation of a restored pod: when its workload started, which was in a former pod. */
  public static final String WORKLOAD_START_ANNOTATION = GROUP + "/workload-start";

  /** Annotation of a scheduled GpuCheckpoint: when it was due. */
  public static final String SCHEDULED_FOR_ANNOTATION = GROUP + "/scheduled-for";

  /**
   * Annotation of a GpuCheckpoint or GpuRestore of a policy: namespace, name and UID of the
   * preemptor.
   */
  public static final String PREEMPTOR_ANNOTATION = GROUP + "/preemptor";

  /** Annotation: the user who requested a freeze. Users cannot set it. */
  public static final String CREATED_BY_ANNOTATION = GROUP + "/created-by";

  /** Pod condition: whether the workload is frozen, with the reason and the object. */
  public static final String FROZEN_POD_CONDITION = GROUP + "/Frozen";

  /** Readiness gate of a restored pod: true once the workload was verified to run. */
  public static final String RESTORED_GATE = GROUP + "/restored";

  /** Finalizer of objects whose deletion needs cleanup. */
  public static final String FINALIZER = GROUP + "/finalizer";

  /** Merge patch of the spec that cancels a GpuCheckpoint, GpuRestore or GpuMigration. */
  public static final Map<String, Object> CANCEL = Map.of("options", Map.of("cancel", true));

  private Api() {}
}
