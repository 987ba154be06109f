package dev.stasis.agent.cuda;

import com.fasterxml.jackson.annotation.JsonValue;

/** The calls that the worker accepts. */
enum WorkerCall {
  PING("ping", false, false),
  GPUS("gpus", false, false),
  GPU_MEMORY("gpuMemory", true, false),
  STATE("state", true, false),
  RESTORE_THREAD("restoreThread", true, false),
  LOCK("lock", true, true),
  CHECKPOINT("checkpoint", true, true),
  RESTORE("restore", true, true),
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
  @JsonValue
  @Override
  public String toString() {
    return text;
  }
}
