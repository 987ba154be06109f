package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.MemoryRoom;
import dev.stasis.agent.container.MemoryRoomReader;
import dev.stasis.agent.process.ProcFs;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;

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
  private final ToLongFunction<Container> promised;

  /** Counts nothing as promised. */
  Room(ProcFs proc) {
    this(proc, container -> 0);
  }

  /**
   * The room of a node.
   *
   * @param promised bytes of the node's memory that others than this container will take
   */
  Room(ProcFs proc, ToLongFunction<Container> promised) {
    this.proc = proc;
    this.promised = promised;
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
        Math.max(0, room.hostAvailable() - promised.applyAsLong(container)),
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
    long others = promised.applyAsLong(container);
    if (room.hostAvailable() - others < needed) {
      return Optional.of(
          "memory of the node: wanted %d bytes available for %d bytes of device memory, found %d, of which %d are promised to other freezes"
              .formatted(needed, deviceBytes, room.hostAvailable(), others));
    }
    return Optional.empty();
  }
}
