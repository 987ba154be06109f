package dev.stasis.agent.container;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How much memory a container may still take. All sizes are bytes.
 *
 * @param levels the container's memory cgroup and those above it, the container's first
 * @param hostAvailable what the kernel thinks the machine can give without swapping
 */
public record MemoryRoom(List<Level> levels, long hostAvailable) {

  /**
   * One cgroup.
   *
   * @param usage what is charged to it
   * @param limit empty when there is none
   * @param reclaimable of the usage, clean page cache that the kernel gives up before it kills
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

  /** Bytes that the container can take before anything at all stands in its way. */
  public long free() {
    return Math.min(
        hostAvailable,
        tightest()
            .flatMap(level -> level.free().stream().boxed().findFirst())
            .orElse(Long.MAX_VALUE));
  }

  /** The cgroup that runs full first; empty when none has a limit. */
  public Optional<Level> tightest() {
    return levels.stream()
        .filter(level -> level.limit().isPresent())
        .min(Comparator.comparingLong(level -> level.free().orElse(Long.MAX_VALUE)));
  }

  /** What the container itself uses; 0 where no memory cgroup is at hand. */
  public long usage() {
    return levels.isEmpty() ? 0 : levels.get(0).usage();
  }
}
