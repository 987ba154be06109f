package dev.stasis.agent.process;

/**
 * One thread of a process.
 *
 * @param state the letter of {@link ProcessStat#state}
 * @param startTime clock ticks between boot and start
 * @param cpuTicks user and system time, in clock ticks
 * @param tracerPid who traces this thread, 0 for nobody
 */
public record ThreadStat(
    int tid, String comm, char state, long startTime, long cpuTicks, int tracerPid) {

  /** Stopped by a signal or by a tracer: it runs nothing until somebody lets it go. */
  public boolean isStopped() {
    return state == 'T' || state == 't';
  }
}
