package dev.stasis.agent.daemon.node;

import java.util.List;

/**
 * The machine below the node.
 *
 * @param bootId id of the boot
 * @param architecture as Kubernetes names it: {@code amd64}
 * @param cpuFeatures of each processor, sorted
 * @param kernel release
 * @param timeNamespaces whether the kernel has them
 * @param cgroupVersion 1 or 2
 * @param memoryBytes all of its memory
 * @param root whether the agent is root
 * @param fingerprint what a restore compares, one property a line
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
