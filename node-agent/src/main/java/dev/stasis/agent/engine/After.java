package dev.stasis.agent.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What happens to the workload after the checkpoint. */
public enum After {
  /** It resumes; the artifact is published. */
  @JsonProperty("Resume")
  RESUME,
  /** It stays in host memory without device memory; nothing is dumped. */
  @JsonProperty("Suspend")
  SUSPEND,
  /**
   * The artifact is published. The workload stays frozen until the caller reports that its pod is
   * gone; then it is ended.
   */
  @JsonProperty("Evict")
  EVICT
}
