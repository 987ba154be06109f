package dev.stasis.agent.process;

/**
 * One thread of a process.
 *
 * @param state the letter of {@link ProcessStat#state}
 * @param startTime clock ticks between boot and start
 * @param cpuTicks user and system time, in clock ticks
 * @param tracerPid the tracer's pid, 0 for none
 */
public record ThreadStat(
    int tid, String comm, char state, long startTime, long cpuTicks, int tracerPid) {

  /** Stopped by a signal or a tracer: it runs no code until it is continued. */
  public boolean isStopped() {
    return state == 'T' || state == 't';
  }
}
