package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.MemoryRoom;
import dev.stasis.agent.container.MemoryRoomReader;
import dev.stasis.agent.process.ProcFs;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Whether a container and its host have room for the device memory in their own. Without it the
 * kernel kills the workload in the middle of the driver's Checkpoint, so it is looked at before
 * anything is frozen and again just before the driver's call.
 */
final class Room {

  /** Of the device memory: page tables and the driver's rounding. */
  private static final double OVERHEAD = 1.02;

  /** Beyond it: the context's own host state, criu's and the mover's small buffers. */
  private static final long FIXED_BYTES = 256L << 20;

  private final ProcFs proc;

  Room(ProcFs proc) {
    this.proc = proc;
  }

  /** What is needed for that much device memory, kept {@code copies} times in host memory. */
  static long needed(long deviceBytes, int copies) {
    return (long) (deviceBytes * OVERHEAD) + FIXED_BYTES + deviceBytes * (copies - 1);
  }

  /** The sentence with both numbers, when there is too little. */
  Optional<String> missing(Container container, List<CudaProcess> cuda, int copies) {
    long device = cuda.stream().mapToLong(CudaProcess::totalBytes).sum();
    return missing(container, device, copies);
  }

  /** What there is for one copy, in numbers. */
  Inspected.RoomFound found(Container container, long deviceBytes) {
    MemoryRoom room = new MemoryRoomReader(proc).read(container);
    Optional<MemoryRoom.Level> level = room.tightest().or(() -> room.levels().stream().findFirst());
    long used = level.map(one -> Math.max(0, one.usage() - one.reclaimable())).orElse(0L);
    return new Inspected.RoomFound(
        used + needed(deviceBytes, 1),
        used,
        level.map(MemoryRoom.Level::limit).orElse(OptionalLong.empty()),
        room.hostAvailable(),
        missing(container, deviceBytes, 1));
  }

  Optional<String> missing(Container container, long deviceBytes, int copies) {
    long needed = needed(deviceBytes, copies);
    MemoryRoom room = new MemoryRoomReader(proc).read(container);
    for (MemoryRoom.Level level : room.levels()) {
      OptionalLong free = level.free();
      if (free.isPresent() && free.getAsLong() < needed) {
        return Optional.of(
            "memory limit of cgroup %s: wanted %d bytes free for %d bytes of device memory, found %d (limit %d, in use %d)"
                .formatted(
                    level.cgroup(),
                    needed,
                    deviceBytes,
                    free.getAsLong(),
                    level.limit().orElse(0),
                    level.usage()));
      }
    }
    if (room.hostAvailable() < needed) {
      return Optional.of(
          "memory of the node: wanted %d bytes available for %d bytes of device memory, found %d"
              .formatted(needed, deviceBytes, room.hostAvailable()));
    }
    return Optional.empty();
  }
}
