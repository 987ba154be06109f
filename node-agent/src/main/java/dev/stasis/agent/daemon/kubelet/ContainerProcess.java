package dev.stasis.agent.daemon.kubelet;

import dev.stasis.agent.process.ProcessId;
import java.util.List;

/**
 * The first process of a running container, and the process section of its runtime spec.
 *
 * @param id pid on this machine, and start time
 * @param argv the command of the spec, with entrypoint and arguments resolved
 * @param env one {@code NAME=value} each
 */
public record ContainerProcess(ProcessId id, List<String> argv, List<String> env) {
  public ContainerProcess {
    argv = List.copyOf(argv);
    env = List.copyOf(env);
  }
}
