package dev.stasis.agent.criu;

/**
 * A mount as criu would make it.
 *
 * @param external the key of the target's mount that it is bound to; empty for one that criu makes
 * @param proc whether it is of type proc
 */
public record ImageMount(
    int id, int parent, String path, String external, boolean proc, boolean readOnly) {}
