package dev.stasis.agent.mover;

import dev.stasis.agent.process.MappingUse;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.artifact.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Finds the memory that the mover copies instead of criu: large private memory of any process, and
 * the regions that the driver's Checkpoint created. The latter are found by comparing a process's
 * address ranges before and after it. Ranges are compared instead of mappings, because the kernel
 * may merge the new region with a neighbor. The tree is stopped from before the second read until
 * the end of the dump, so a wrong choice costs time but never data.
 */
public final class RegionFinder {

  /**
   * Allowed difference between the regions and the device bytes reported by NVML: 10 MiB were seen,
   * and contexts vary.
   */
  static final long TOLERANCE_BYTES = 64L << 20;

  /** Smaller ranges are not worth a separate copy; malloc arenas grow in smaller steps. */
  static final long SMALLEST_BYTES = 1L << 20;

  /** The same for host memory: our copy of a smaller range is no faster than CRIU's dump. */
  static final long SMALLEST_HOST_BYTES = 4L << 20;

  /**
   * A restore populates all pages of such memory, so nearly all of them must be populated before.
   * At most a fifteenth more memory is then used, and a large reservation (a JVM's heap, a
   * sanitizer's shadow memory) is not read.
   */
  private static final int DENSE_OF_16 = 15;

  /**
   * Locked, huge-page, device, raw page-frame and userfaultfd memory: dropping or filling it has
   * other effects than for plain anonymous pages.
   */
  private static final Set<String> FLAGS_LEFT_TO_CRIU = Set.of("lo", "ht", "io", "pf", "um", "uw");

  /**
   * Shadow stacks, which only their thread may write; memory that the kernel may drop by itself;
   * guard pages; and memory that must not use huge pages, which a fill requests.
   */
  private static final Set<String> HOST_FLAGS_LEFT_TO_CRIU = Set.of("ss", "dp", "gu", "nh");

  private static final String READ_WRITE_PRIVATE = "rw-p";

  /**
   * Chooses the regions of one process.
   *
   * @param used the {@link #used} ranges after Lock and before Checkpoint
   * @param after the mappings with their details (smaps) after Checkpoint, with the tree stopped
   * @param deviceBytes the process's device memory according to NVML before Checkpoint
   */
  public RegionChoice choose(List<Region> used, List<MappingUse> after, long deviceBytes) {
    List<Region> found = new ArrayList<>();
    for (MappingUse use : after) {
      MemoryMapping mapping = use.mapping();
      if (!plain(mapping)) {
        continue;
      }
      List<Region> fresh = minus(new Region(mapping.start(), mapping.length()), used);
      fresh.removeIf(region -> region.length() < SMALLEST_BYTES);
      if (fresh.isEmpty()) {
        continue;
      }
      long shared = use.sharedClean() + use.sharedDirty();
      if (shared != 0) {
        return new RegionChoice.LeftToCriu(
            shared
                + " bytes of the region at "
                + fresh.get(0)
                + " are shared with another process");
      }
      for (String flag : FLAGS_LEFT_TO_CRIU) {
        if (use.vmFlags().contains(flag)) {
          return new RegionChoice.LeftToCriu(
              "the region at " + fresh.get(0) + " has the memory flag " + flag);
        }
      }
      found.addAll(fresh);
    }
    long sum = found.stream().mapToLong(Region::length).sum();
    if (found.isEmpty() || Math.abs(sum - deviceBytes) > TOLERANCE_BYTES) {
      return new RegionChoice.LeftToCriu(
          "new memory after the GPU checkpoint is "
              + sum
              + " bytes, device memory was "
              + deviceBytes
              + " bytes");
    }
    return new RegionChoice.Movable(found);
  }

  /**
   * Finds private memory that is large, nearly full, and not shared with a forked child.
   *
   * @param mappings all mappings of a stopped process, with their details (smaps)
   * @param besides the regions that are already copied
   */
  public List<Region> large(List<MappingUse> mappings, List<Region> besides) {
    List<Region> taken = new ArrayList<>(besides);
    taken.sort(Comparator.comparingLong(Region::address));
    List<Region> found = new ArrayList<>();
    for (MappingUse use : mappings) {
      MemoryMapping mapping = use.mapping();
      boolean suits =
          (plain(mapping) || mapping.isHeap() && mapping.permissions().equals(READ_WRITE_PRIVATE))
              && use.rss() / DENSE_OF_16 >= mapping.length() / 16
              && use.swap() == 0
              && use.sharedClean() + use.sharedDirty() == 0
              && FLAGS_LEFT_TO_CRIU.stream().noneMatch(use.vmFlags()::contains)
              && HOST_FLAGS_LEFT_TO_CRIU.stream().noneMatch(use.vmFlags()::contains);
      if (suits) {
        minus(new Region(mapping.start(), mapping.length()), taken).stream()
            .filter(region -> region.length() >= SMALLEST_HOST_BYTES)
            .forEach(found::add);
      }
    }
    return found;
  }

  private static boolean plain(MemoryMapping mapping) {
    return mapping.permissions().equals(READ_WRITE_PRIVATE) && mapping.isAnonymous();
  }

  /**
   * Returns the ranges that may hold data; a reservation without permissions ({@code ---p}) holds
   * none.
   */
  public List<Region> used(List<MemoryMapping> before) {
    List<Region> ranges = new ArrayList<>();
    for (MemoryMapping mapping : before) {
      if (!mapping.permissions().startsWith("---")) {
        ranges.add(new Region(mapping.start(), mapping.length()));
      }
    }
    ranges.sort(Comparator.comparingLong(Region::address));
    return ranges;
  }

  private static List<Region> minus(Region whole, List<Region> sortedUsed) {
    List<Region> rest = new ArrayList<>();
    long at = whole.address();
    for (Region used : sortedUsed) {
      if (used.end() <= at) {
        continue;
      }
      if (used.address() >= whole.end()) {
        break;
      }
      if (used.address() > at) {
        rest.add(new Region(at, used.address() - at));
      }
      at = used.end();
    }
    if (at < whole.end()) {
      rest.add(new Region(at, whole.end() - at));
    }
    return rest;
  }
}
