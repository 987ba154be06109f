package dev.stasis.agent.process;

/**
 * Per-thread settings that criu does not restore.
 *
 * @param tid the thread's number in the reader's namespace
 * @param ownTid the thread's number in its own namespace
 * @param cpus the processors on which it may run
 * @param timerSlackNanos how late its timers may be; 0 if that has no meaning or cannot be read
 */
public record ThreadSettings(int tid, int ownTid, CpuSet cpus, long timerSlackNanos) {}
