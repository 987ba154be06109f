package dev.stasis.artifact;

import java.util.List;
import java.util.Objects;

/**
 * Device memory of the direct path: addresses are those of the device, and the library in the
 * process loads it again.
 *
 * @param library the path of the library in the container
 * @param processes the files of each process
 */
public record DeviceMemory(String library, List<RegionSet> processes) {
  public DeviceMemory {
    Objects.requireNonNull(library, "library");
    processes = List.copyOf(processes);
  }

  /** Bytes in chunks that are not all zeros. */
  public long storedBytes() {
    return processes.stream().mapToLong(RegionSet::storedBytes).sum();
  }

  /** Bytes of all allocations. */
  public long bytes() {
    return processes.stream()
        .flatMap(set -> set.regions().stream())
        .mapToLong(Region::length)
        .sum();
  }
}
