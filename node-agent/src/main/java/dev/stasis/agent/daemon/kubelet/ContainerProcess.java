package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.process.ProcessId;
import java.util.List;

/**
 * The first process of a running container, and what the runtime was told to run.
 *
 * @param id pid as this machine sees it, and start time
 * @param argv the command, as in the runtime's spec: entrypoint and arguments are resolved in it
 * @param cwd the folder that it starts in
 * @param env {@code NAME=value} each
 */
public record ContainerProcess(ProcessId id, List<String> argv, String cwd, List<String> env) {
  public ContainerProcess {
    argv = List.copyOf(argv);
    env = List.copyOf(env);
  }
}
