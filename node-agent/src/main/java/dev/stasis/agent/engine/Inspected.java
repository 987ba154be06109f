package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.InterfaceAddress;
import dev.stasis.compat.Fingerprint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The result of inspecting a running workload. All sizes are bytes.
 *
 * @param unmet what prevents the checkpoint, except missing memory; empty if nothing does
 * @param notPortable what prevents a restore in another pod, whether or not it prevents the
 *     checkpoint
 * @param addresses addresses of its pod's network interfaces
 * @param watched paths of watched files, by {@code MAJOR:MINOR:INODE}
 * @param needs requirements for another node that follow from its activity
 * @param gpus the node's GPUs
 * @param seen the GPUs that the container sees, in the driver's order
 * @param tree the workload's processes
 * @param gpuBytes device memory of all its processes
 * @param hostBytes memory of its processes, except device memory
 * @param layerBytes files that go into an artifact: the writable layer, emptyDirs and /dev/shm
 * @param aheadBytes those of them that are packed before the workload is frozen, unless they change
 * @param expectedBytes how big an artifact would be at most
 * @param room whether the device memory has room in host memory
 * @param dataPath how device memory would leave the workload
 */
public record Inspected(
    List<FailedRequirement> unmet,
    List<FailedRequirement> notPortable,
    List<InterfaceAddress> addresses,
    Map<String, String> watched,
    Fingerprint needs,
    NodeGpus gpus,
    List<Gpu> seen,
    List<ProcessId> tree,
    long gpuBytes,
    long hostBytes,
    long layerBytes,
    long aheadBytes,
    long expectedBytes,
    RoomFound room,
    DataPath dataPath) {

  public Inspected {
    unmet = List.copyOf(unmet);
    notPortable = List.copyOf(notPortable);
    addresses = List.copyOf(addresses);
    watched = Map.copyOf(watched);
    seen = List.copyOf(seen);
    tree = List.copyOf(tree);
  }

  /** Returns a copy with another path. */
  Inspected by(DataPath other) {
    return new Inspected(
        unmet,
        notPortable,
        addresses,
        watched,
        needs,
        gpus,
        seen,
        tree,
        gpuBytes,
        hostBytes,
        layerBytes,
        aheadBytes,
        expectedBytes,
        room,
        other);
  }

  /** A workload that could not be inspected. */
  static Inspected refused(List<FailedRequirement> unmet, String driver) {
    return new Inspected(
        unmet,
        List.of(),
        List.of(),
        Map.of(),
        Fingerprint.empty(),
        NodeGpus.none(new DriverAvailability.NoDevice(driver)),
        List.of(),
        List.of(),
        0,
        0,
        0,
        0,
        0,
        RoomFound.unknown(),
        new DataPath.Driver(null));
  }

  /** Device memory that the driver's Checkpoint would copy. */
  public long gpuBytesOfTheDriver() {
    return dataPath instanceof DataPath.Direct direct
        ? Math.max(0, gpuBytes - direct.bytes())
        : gpuBytes;
  }

  /** Everything that prevents the checkpoint, including missing memory. */
  public List<FailedRequirement> everythingUnmet() {
    List<FailedRequirement> all = new ArrayList<>(unmet);
    room.missing()
        .ifPresent(
            missing -> all.add(new FailedRequirement(RoomFound.PROPERTY, "enough space", missing)));
    return all;
  }

  /**
   * Memory for a freeze, required and available.
   *
   * @param needed total peak, including current usage
   * @param used current usage, without reclaimable memory
   * @param limit of the container or of a parent cgroup, whichever is reached first; empty if there
   *     is none
   * @param nodeFree what the machine can provide
   * @param missing the sentence with both numbers, if there is too little
   */
  public record RoomFound(
      long needed, long used, OptionalLong limit, long nodeFree, Optional<String> missing) {

    /** The property's name for missing memory. */
    public static final String PROPERTY = "room for device memory";

    /** For a workload that could not be inspected. */
    static RoomFound unknown() {
      return new RoomFound(0, 0, OptionalLong.empty(), 0, Optional.empty());
    }

    /** Returns whether the machine itself has too little, so that a higher limit does not help. */
    public boolean nodeIsFull() {
      return missing.isPresent() && nodeFree < needed - used;
    }
  }
}
