package dev.stasis.agent.criu;

import dev.stasis.agent.process.ThreadRights;

/**
 * A thread as criu would restore it.
 *
 * @param pid of its process, as it sees itself
 * @param tid its own, as it sees itself
 * @param rights what it would be given
 * @param userNamespace whether its process would get a user namespace of its own
 */
public record ImageThread(int pid, int tid, ThreadRights rights, boolean userNamespace) {}
