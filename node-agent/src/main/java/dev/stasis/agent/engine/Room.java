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
 * Determines whether a container and its host have memory for the device memory. Otherwise the
 * kernel kills the workload in the middle of the driver's Checkpoint, so it is checked before the
 * freeze and again just before the driver's call.
 */
final class Room {

  /** Part of the device memory: page tables and the driver's rounding. */
  private static final double OVERHEAD = 1.02;

  /** In addition: the context's own host state, and small buffers of criu and the mover. */
  private static final long FIXED_BYTES = 256L << 20;

  /**
   * What a workload may use in addition until its freeze: this, and a twentieth of what it uses.
   */
  private static final long GROWTH_BYTES = 16L << 20;

  /**
   * A stage in memory only saves time, so it leaves this much more to the node: the kubelet evicts
   * pods below 100 MiB, and many nodes are configured for more.
   */
  private static final long LEFT_BY_A_STAGE = 1L << 30;

  private final ProcFs proc;
  private final ToLongFunction<Container> promised;

  /** Assumes no reservations. */
  Room(ProcFs proc) {
    this(proc, container -> 0);
  }

  /**
   * The room of a node.
   *
   * @param promised bytes of the node's memory that are reserved for other containers
   */
  Room(ProcFs proc, ToLongFunction<Container> promised) {
    this.proc = proc;
    this.promised = promised;
  }

  /** Returns what that much device memory requires. */
  static long needed(long deviceBytes) {
    return (long) (deviceBytes * OVERHEAD) + FIXED_BYTES;
  }

  /** The same, with a stage that is charged only to the node. */
  private static long neededOfNode(long deviceBytes, long stagedBytes) {
    return needed(deviceBytes) + (stagedBytes == 0 ? 0 : stagedBytes + LEFT_BY_A_STAGE);
  }

  /** The sentence with both numbers, if there is too little. */
  Optional<String> missing(Container container, List<CudaProcess> cuda, long stagedBytes) {
    long device = cuda.stream().mapToLong(CudaProcess::totalBytes).sum();
    return missing(container, device, stagedBytes);
  }

  /**
   * Returns the room without a stage, in numbers. The needed size, to which a limit is raised,
   * includes what the workload may use in addition until its freeze.
   */
  Inspected.RoomFound found(Container container, long deviceBytes) {
    MemoryRoom room = new MemoryRoomReader(proc).read(container);
    Optional<MemoryRoom.Level> level = room.tightest().or(() -> room.levels().stream().findFirst());
    long used = level.map(one -> Math.max(0, one.usage() - one.reclaimable())).orElse(0L);
    return new Inspected.RoomFound(
        used + used / 20 + GROWTH_BYTES + needed(deviceBytes),
        used,
        level.map(MemoryRoom.Level::limit).orElse(OptionalLong.empty()),
        Math.max(0, room.hostAvailable() - promised.applyAsLong(container)),
        missing(container, deviceBytes, 0));
  }

  Optional<String> missing(Container container, long deviceBytes, long stagedBytes) {
    long needed = needed(deviceBytes);
    MemoryRoom room = new MemoryRoomReader(proc).read(container);
    for (MemoryRoom.Level level : room.levels()) {
      OptionalLong free = level.free();
      if (free.isPresent() && free.getAsLong() < needed) {
        return Optional.of(
            ("memory limit of cgroup %s: expected %d bytes free for %d bytes of device memory,"
                    + " got %d (limit %d, in use %d)")
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
    long neededOfNode = neededOfNode(deviceBytes, stagedBytes);
    if (room.hostAvailable() - others < neededOfNode) {
      return Optional.of(
          ("memory of the node: expected %d bytes available for %d bytes of device memory, got"
                  + " %d, of which %d are reserved by other operations")
              .formatted(neededOfNode, deviceBytes, room.hostAvailable(), others));
    }
    return Optional.empty();
  }
}
