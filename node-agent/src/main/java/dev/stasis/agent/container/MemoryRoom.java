package dev.stasis.agent.container;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The memory that a container can still allocate. All sizes are bytes.
 *
 * @param levels the container's memory cgroup and those above it, the container's first
 * @param hostAvailable the kernel's estimate of what the machine can provide without swapping
 */
public record MemoryRoom(List<Level> levels, long hostAvailable) {

  /**
   * One cgroup.
   *
   * @param usage memory charged to it
   * @param limit empty if there is none
   * @param reclaimable part of the usage: clean page cache that the kernel reclaims before it kills
   */
  public record Level(String cgroup, long usage, OptionalLong limit, long reclaimable) {

    /** Bytes that may still be charged here; empty without a limit. */
    public OptionalLong free() {
      return limit.isPresent()
          ? OptionalLong.of(Math.max(0, limit.getAsLong() - usage + reclaimable))
          : OptionalLong.empty();
    }
  }

  public MemoryRoom {
    levels = List.copyOf(levels);
  }

  /** Bytes that the container can allocate before it reaches any limit. */
  public long free() {
    return Math.min(
        hostAvailable,
        tightest()
            .flatMap(level -> level.free().stream().boxed().findFirst())
            .orElse(Long.MAX_VALUE));
  }

  /** The cgroup that reaches its limit first; empty if none has a limit. */
  public Optional<Level> tightest() {
    return levels.stream()
        .filter(level -> level.limit().isPresent())
        .min(Comparator.comparingLong(level -> level.free().orElse(Long.MAX_VALUE)));
  }

  /** Memory that the container itself uses; 0 if there is no memory cgroup. */
  public long usage() {
    return levels.isEmpty() ? 0 : levels.get(0).usage();
  }
}
