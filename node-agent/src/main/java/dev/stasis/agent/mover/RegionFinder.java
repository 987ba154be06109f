package dev.stasis.agent.mover;

import dev.stasis.agent.process.MappingUse;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.artifact.Region;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * Finds the regions that the driver's Checkpoint made, by comparing a process's address ranges
 * before and after it. Ranges and not mappings, because the kernel may merge the new region with a
 * neighbour. The tree stands still from before the second look until the regions are filled again,
 * so a wrong choice costs time and never data.
 */
public final class RegionFinder {

  /**
   * How far the regions may be from the device bytes that NVML gave: 10 MiB were seen, contexts
   * vary.
   */
  static final long TOLERANCE_BYTES = 64L << 20;

  /** Smaller ranges are not worth a copy of their own; malloc arenas grow in steps below this. */
  static final long SMALLEST_BYTES = 1L << 20;

  /**
   * Locked, huge-page, device, raw page-frame and userfaultfd memory: dropping or filling these
   * means something else than it does for plain anonymous pages.
   */
  private static final Set<String> FLAGS_LEFT_TO_CRIU = Set.of("lo", "ht", "io", "pf", "um", "uw");

  /**
   * Chooses the regions of one process.
   *
   * @param before the mappings while the process was locked, before Checkpoint
   * @param after the mappings with their details (smaps) after Checkpoint, with the tree stopped
   * @param deviceBytes the device memory that NVML gave for the process before Checkpoint
   */
  public RegionChoice choose(List<MemoryMapping> before, List<MappingUse> after, long deviceBytes) {
    List<Region> used = usedRanges(before);
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

  private static boolean plain(MemoryMapping mapping) {
    return mapping.permissions().equals("rw-p") && mapping.isAnonymous();
  }

  /**
   * Ranges that held something before; a reservation without any right ({@code ---p}) held nothing.
   */
  private static List<Region> usedRanges(List<MemoryMapping> before) {
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
