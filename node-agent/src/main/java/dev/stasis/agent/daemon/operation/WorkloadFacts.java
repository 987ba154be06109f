package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.common.CommandLine;
import dev.stasis.api.v1beta1.common.Hardware;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Facts in an artifact beside its manifest and the pod, for a cluster that does not know the
 * workload: a file of it, digested by the manifest like every other.
 *
 * @param containerName the frozen container
 * @param argv its command line, unexpanded; an older agent wrote the expanded one
 * @param otherContainers the pod's other containers
 * @param hardware its hardware, with the fingerprint for comparisons
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

  /** Returns a copy with the arguments of the pod's spec. */
  WorkloadFacts with(CommandLine line) {
    return new WorkloadFacts(containerName, line.unexpanded(argv), otherContainers, hardware);
  }
}
