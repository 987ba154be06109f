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

  /** Label: uid of the object for which an operation or a pod was made. */
  public static final String OPERATION_UID_LABEL = GROUP + "/operation-uid";

  /** Label: name of the GpuCheckpoint from which a pod was restored. */
  public static final String CHECKPOINT_LABEL = GROUP + "/checkpoint";

  /** Label of a pod, or of its namespace, that is checkpointed before an eviction. */
  public static final String PROTECT_LABEL = GROUP + "/protect";

  /** Annotation of a protected pod: how long an eviction may be held, {@code 10m} by default. */
  public static final String EVICT_DEADLINE_ANNOTATION = GROUP + "/evict-deadline";

  /** Annotation of a restored pod: namespace and name of its GpuRestore. */
  public static final String RESTORED_FROM_ANNOTATION = GROUP + "/restored-from";

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
