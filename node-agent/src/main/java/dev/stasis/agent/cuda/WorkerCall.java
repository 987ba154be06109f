package dev.stasis.agent.cuda;

import com.fasterxml.jackson.annotation.JsonProperty;

/** The calls that the worker accepts. */
enum WorkerCall {
  @JsonProperty("ping")
  PING("ping", false, false),
  @JsonProperty("version")
  VERSION("version", false, false),
  @JsonProperty("gpus")
  GPUS("gpus", false, false),
  @JsonProperty("gpuMemory")
  GPU_MEMORY("gpuMemory", true, false),
  @JsonProperty("state")
  STATE("state", true, false),
  @JsonProperty("restoreThread")
  RESTORE_THREAD("restoreThread", true, false),
  @JsonProperty("lock")
  LOCK("lock", true, true),
  @JsonProperty("checkpoint")
  CHECKPOINT("checkpoint", true, true),
  @JsonProperty("restore")
  RESTORE("restore", true, true),
  @JsonProperty("unlock")
  UNLOCK("unlock", true, true);

  private final String text;
  private final boolean aboutAProcess;
  private final boolean mutating;

  WorkerCall(String text, boolean aboutAProcess, boolean mutating) {
    this.text = text;
    this.aboutAProcess = aboutAProcess;
    this.mutating = mutating;
  }

  boolean aboutAProcess() {
    return aboutAProcess;
  }

  /** Whether it changes the process; it is then never repeated. */
  boolean mutating() {
    return mutating;
  }

  /** Whether it is refused for a process with memory in a stage. */
  boolean needsWholeRegions() {
    return this == RESTORE || this == UNLOCK;
  }

  /** Its name in the protocol. */
  @Override
  public String toString() {
    return text;
  }
}
