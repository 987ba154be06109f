package dev.stasis.agent.preflight;

/** What an unmet requirement prevents. */
public enum Scope {
  /** Every checkpoint: the freeze itself would fail, or the workload would be lost. */
  CHECKPOINT,
  /**
   * A restore in another pod. A checkpoint after which the workload stays in its pod is allowed.
   */
  NEW_POD,
  /** Any restore of this artifact: it is damaged, or newer than the agent. */
  ARTIFACT
}
