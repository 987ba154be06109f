package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.common.CommandLine;
import dev.stasis.api.v1alpha1.common.Hardware;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an artifact says, beside its manifest and the pod, for a cluster that knows nothing of it: a
 * file of it, digested by the manifest as every other.
 *
 * @param containerName the container that was frozen
 * @param argv its command line, unexpanded; an older agent wrote it as the runtime started it
 * @param otherContainers the pod's other containers
 * @param hardware what it ran on, with the fingerprint by which places are compared
 */
record WorkloadFacts(
    String containerName,
    List<String> argv,
    @Nullable List<String> otherContainers,
    @Nullable Hardware hardware) {

  /** The file's name. */
  static final String FILE = "workload.json";

  WorkloadFacts {
    argv = List.copyOf(argv);
  }

  /** Returns the same with the arguments as the pod has them. */
  WorkloadFacts with(CommandLine line) {
    return new WorkloadFacts(containerName, line.unexpanded(argv), otherContainers, hardware);
  }
}
