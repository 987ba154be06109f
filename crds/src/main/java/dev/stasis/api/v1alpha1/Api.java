package dev.stasis.api.v1alpha1;

/** The names that every resource shares, and the keys that belong to Stasis. */
public final class Api {
  /** The API group. */
  public static final String GROUP = "stasis.dev";

  /** The version of the group. */
  public static final String VERSION = "v1alpha1";

  /** The category: {@code kubectl get stasis} lists everything. */
  public static final String CATEGORY = "stasis";

  /** Label of a GpuNodeOperation: the node whose agent watches for it. */
  public static final String NODE_LABEL = GROUP + "/node";

  /**
   * Annotation of a GpuNodeOperation, where traces are wanted: the span of which the agent's are a
   * part, as in the W3C's header of that name.
   */
  public static final String TRACEPARENT_ANNOTATION = GROUP + "/traceparent";

  /** Label: uid of the object for which an operation or a pod was made. */
  public static final String OPERATION_UID_LABEL = GROUP + "/operation-uid";

  /** Label: name of the GpuCheckpoint from which a pod was restored. */
  public static final String CHECKPOINT_LABEL = GROUP + "/checkpoint";

  /** Label of a GpuCheckpoint or GpuRestore: name of the GpuCheckpointSchedule that made it. */
  public static final String SCHEDULE_LABEL = GROUP + "/schedule";

  /** Label of a GpuCheckpoint or GpuRestore: name of the GpuPreemptionPolicy that made it. */
  public static final String POLICY_LABEL = GROUP + "/policy";

  /** Label of a pod, or of its namespace, that is checkpointed before an eviction. */
  public static final String PROTECT_LABEL = GROUP + "/protect";

  /** Annotation of a protected pod: how long an eviction may be held, {@code 10m} by default. */
  public static final String EVICT_DEADLINE_ANNOTATION = GROUP + "/evict-deadline";

  /** Label of what is made for the eviction of a pod, and of that pod: its uid. */
  public static final String EVICTION_LABEL = GROUP + "/eviction";

  /** Annotation of a GpuCheckpoint for an eviction: when the eviction was first asked for. */
  public static final String EVICT_SINCE_ANNOTATION = GROUP + "/evict-since";

  /** The same: when it was last asked for. */
  public static final String EVICT_REQUESTED_ANNOTATION = GROUP + "/evict-requested";

  /** The same: name of the GpuRestore that was left for the pod. */
  public static final String EVICT_RESTORE_ANNOTATION = GROUP + "/evict-restore";

  /** Annotation of a restored pod: namespace and name of its GpuRestore. */
  public static final String RESTORED_FROM_ANNOTATION = GROUP + "/restored-from";

  /**
   * Annotation of a restored pod whose image no registry knows: the image's name, by which nodes
   * list it; the pod itself has only its id.
   */
  public static final String IMAGE_ANNOTATION = GROUP + "/image";

  /** Annotation of a restored pod that could not have the name of the first one: that name. */
  public static final String FIRST_NAME_ANNOTATION = GROUP + "/first-name";

  /** Annotation of a scheduled GpuCheckpoint: when it was due. */
  public static final String SCHEDULED_FOR_ANNOTATION = GROUP + "/scheduled-for";

  /**
   * Annotation of a GpuCheckpoint and GpuRestore that a policy made: namespace, name and uid of the
   * pod for which room is made.
   */
  public static final String PREEMPTOR_ANNOTATION = GROUP + "/preemptor";

  /** Annotation of a GpuRestore that a GpuMigration made: the node from which the pod moves. */
  public static final String NOT_ON_ANNOTATION = GROUP + "/not-on";

  /**
   * Annotation of a GpuRestore that a GpuMigration made: the node on which it failed before, which
   * is taken only where there is no other.
   */
  public static final String RATHER_NOT_ON_ANNOTATION = GROUP + "/rather-not-on";

  /** Annotation: who asked for a freeze. Users cannot set it. */
  public static final String CREATED_BY_ANNOTATION = GROUP + "/created-by";

  /** Pod condition: the workload is frozen, why, since when and by which object. */
  public static final String FROZEN_POD_CONDITION = GROUP + "/Frozen";

  /** Readiness gate of a restored pod: opened by the proof. */
  public static final String RESTORED_GATE = GROUP + "/restored";

  /** Finalizer of everything whose end has to undo something first. */
  public static final String FINALIZER = GROUP + "/finalizer";

  private Api() {}
}
