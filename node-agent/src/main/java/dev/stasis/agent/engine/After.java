package dev.stasis.agent.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What becomes of the workload when it has been checkpointed. */
public enum After {
  /** It goes on; the artifact is published. */
  @JsonProperty("Resume")
  RESUME,
  /** It stays in host memory with no device memory; nothing is dumped. */
  @JsonProperty("Suspend")
  SUSPEND,
  /**
   * The artifact is published; it stays frozen until the caller says that its pod is gone, then it
   * is ended.
   */
  @JsonProperty("Evict")
  EVICT
}
