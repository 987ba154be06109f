package dev.stasis.agent.daemon.kubelet;

import java.util.Set;

/**
 * Which resources mean GPUs. A device that is a GPU of the node is one whatever its resource is
 * called; these names tell what else was given as one.
 *
 * @param names of extended resources; a star at the end stands for any rest
 * @param drivers of dynamic resource allocation
 */
public record GpuResources(Set<String> names, Set<String> drivers) {
  public GpuResources {
    names = Set.copyOf(names);
    drivers = Set.copyOf(drivers);
  }

  boolean isGpu(String resource) {
    return names.stream()
        .anyMatch(
            name ->
                name.endsWith("*")
                    ? resource.startsWith(name.substring(0, name.length() - 1))
                    : resource.equals(name));
  }

  boolean isGpuDriver(String driver) {
    return drivers.contains(driver);
  }
}
