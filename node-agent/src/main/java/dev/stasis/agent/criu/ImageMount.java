package dev.stasis.agent.criu;

/**
 * A mount that criu would create.
 *
 * @param external the key of the target's mount that is bound here; empty for one that criu creates
 * @param proc whether it is of type proc
 */
public record ImageMount(
    int id, int parent, String path, String external, boolean proc, boolean readOnly) {}
