package dev.stasis.agent.daemon.kubelet;

import java.util.Set;

/**
 * The resources that represent GPUs. A device that is a GPU of the node counts as one under any
 * resource name; these names find other devices that were allocated as GPUs.
 *
 * @param names names of extended resources; a star at the end matches any suffix
 * @param drivers drivers of dynamic resource allocation
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
