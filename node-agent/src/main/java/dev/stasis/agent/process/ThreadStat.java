package dev.stasis.agent.process;

/**
 * One thread of a process.
 *
 * @param state the letter of {@link ProcessStat#state}
 * @param tracerPid the tracer's pid, 0 for none
 */
public record ThreadStat(int tid, char state, int tracerPid) {

  /** Stopped by a signal or a tracer: it runs no code until it is continued. */
  public boolean isStopped() {
    return state == 'T' || state == 't';
  }
}
