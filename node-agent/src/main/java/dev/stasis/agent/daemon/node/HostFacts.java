package dev.stasis.agent.daemon.node;

import java.util.List;

/**
 * Properties of the machine.
 *
 * @param bootId id of the boot
 * @param architecture in Kubernetes terms: {@code amd64}
 * @param cpuFeatures features that every processor has, sorted
 * @param kernel kernel release
 * @param timeNamespaces whether the kernel supports them
 * @param cgroupVersion 1 or 2
 * @param memoryBytes total memory
 * @param root whether the agent is root
 * @param fingerprint the properties that a restore compares, one per line
 */
record HostFacts(
    String bootId,
    String architecture,
    List<String> cpuFeatures,
    String kernel,
    boolean timeNamespaces,
    int cgroupVersion,
    long memoryBytes,
    boolean root,
    String fingerprint) {

  HostFacts {
    cpuFeatures = List.copyOf(cpuFeatures);
  }
}
