package dev.stasis.agent.process;

/**
 * What a thread has set for itself that criu does not carry.
 *
 * @param tid as the reader sees it
 * @param ownTid as the thread sees it
 * @param cpus the processors that it may run on
 * @param timerSlackNanos by how much its timers may be late; 0 where that has no meaning or cannot
 *     be read
 */
public record ThreadSettings(int tid, int ownTid, CpuSet cpus, long timerSlackNanos) {}
