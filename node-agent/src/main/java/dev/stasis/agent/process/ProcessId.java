package dev.stasis.agent.process;

/**
 * Identifies one process until the next boot: the kernel reuses pids, but not with the same start
 * time.
 *
 * @param pid the pid as this machine's first pid namespace sees it
 * @param startTime clock ticks between boot and the start of the process (stat, field 22)
 */
public record ProcessId(int pid, long startTime) {

  public ProcessId {
    if (pid <= 0) {
      throw new IllegalArgumentException("pid: expected a positive number, got " + pid);
    }
    if (startTime < 0) {
      throw new IllegalArgumentException("startTime: expected 0 or more, got " + startTime);
    }
  }

  @Override
  public String toString() {
    return pid + "@" + startTime;
  }
}
