package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcFs;

/**
 * The host's user namespace, in which the agent runs. In one of its own a process of any pod has
 * all capabilities and creates all other namespaces, which then show nothing of its rights on the
 * node.
 */
final class HostUserNamespace {

  private static final String USER = "user";

  private final ProcFs proc;

  HostUserNamespace(ProcFs proc) {
    this.proc = proc;
  }

  /** Returns its inode, 0 if it is unknown. */
  long inode() {
    return proc.namespaces((int) ProcessHandle.current().pid()).getOrDefault(USER, 0L);
  }

  boolean has(int pid) {
    Long found = proc.namespaces(pid).get(USER);
    return found != null && found == inode();
  }
}
