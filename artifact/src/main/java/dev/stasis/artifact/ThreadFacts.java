package dev.stasis.artifact;

import org.jspecify.annotations.Nullable;

/**
 * A thread with settings that criu does not restore.
 *
 * @param ownTid its number in its own namespace
 * @param cpus its CPU affinity ({@code 0-3,8}); null if it could use all processors of its
 *     container
 * @param ofCpus the container's processors; null if {@code cpus} is null
 * @param timerSlackNanos its timer slack; null if it was the kernel's default of 50 us
 */
public record ThreadFacts(
    int ownTid, @Nullable String cpus, @Nullable String ofCpus, @Nullable Long timerSlackNanos) {}
