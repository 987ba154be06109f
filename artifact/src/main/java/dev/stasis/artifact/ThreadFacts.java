package dev.stasis.artifact;

import org.jspecify.annotations.Nullable;

/**
 * A thread that had something set for itself which criu does not carry.
 *
 * @param ownTid its number as it sees it
 * @param cpus the processors that it was bound to ({@code 0-3,8}); null when it had all of its
 *     container's
 * @param ofCpus those that the container had; null with {@code cpus}
 * @param timerSlackNanos by how much its timers might be late; null when that was the kernel's 50
 *     us
 */
public record ThreadFacts(
    int ownTid, @Nullable String cpus, @Nullable String ofCpus, @Nullable Long timerSlackNanos) {}
