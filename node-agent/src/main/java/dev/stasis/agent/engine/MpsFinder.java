package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.process.Capabilities;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessStat;

/**
 * Finds the processes of CUDA's multi-process service that may serve a container. Any pod can give
 * its processes their name. The service needs memory shared with its clients: it runs in their pod,
 * or as root on the node or in a privileged pod.
 */
final class MpsFinder {

  private static final String NAME = "nvidia-cuda-mps";

  private final ProcFs proc;
  private final HostUserNamespace host;

  MpsFinder(ProcFs proc) {
    this.proc = proc;
    this.host = new HostUserNamespace(proc);
  }

  boolean mayServe(Container container) {
    return proc.processes().stream()
        .filter(stat -> stat.comm().startsWith(NAME))
        .map(ProcessStat::pid)
        .anyMatch(pid -> isOfThePod(pid, container) || isPrivileged(pid));
  }

  /** The containers of a pod share their IPC namespace. */
  private boolean isOfThePod(int pid, Container container) {
    Long ipc = container.namespaces().get("ipc");
    return ipc != null && ipc.equals(proc.namespaces(pid).get("ipc"));
  }

  private boolean isPrivileged(int pid) {
    return host.has(pid)
        && proc.status(pid)
            .filter(status -> (status.capEffective() >>> Capabilities.SYS_ADMIN & 1) == 1)
            .isPresent();
  }
}
