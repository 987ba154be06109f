package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.preflight.Unmet;
import dev.stasis.artifact.InterfaceAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a look at a running workload found. All sizes are bytes.
 *
 * @param unmet what rules the checkpoint out, but for the room; empty when nothing does
 * @param notPortable what keeps the workload from being restored in another pod, whether or not
 *     that rules the checkpoint out
 * @param addresses those of the network interfaces of its pod
 * @param gpus the node's GPUs
 * @param seen the GPUs that the container sees, in the driver's order
 * @param processes how many processes the workload has
 * @param gpuBytes device memory of all its processes
 * @param hostBytes memory of its processes, device memory apart
 * @param expectedBytes how big an artifact would be at most, but for its writable layer
 * @param room whether the device memory has room in host memory
 */
public record Inspected(
    List<Unmet> unmet,
    List<Unmet> notPortable,
    List<InterfaceAddress> addresses,
    NodeGpus gpus,
    List<Gpu> seen,
    int processes,
    long gpuBytes,
    long hostBytes,
    long expectedBytes,
    RoomFound room) {

  public Inspected {
    unmet = List.copyOf(unmet);
    notPortable = List.copyOf(notPortable);
    addresses = List.copyOf(addresses);
    seen = List.copyOf(seen);
  }

  /** Nothing could be looked at. */
  static Inspected refused(List<Unmet> unmet, String driver) {
    return new Inspected(
        unmet,
        List.of(),
        List.of(),
        NodeGpus.none(new DriverAvailability.NoDevice(driver)),
        List.of(),
        0,
        0,
        0,
        0,
        RoomFound.unknown());
  }

  /** Everything that rules it out, a room that is too small included. */
  public List<Unmet> everythingUnmet() {
    List<Unmet> all = new ArrayList<>(unmet);
    room.missing()
        .ifPresent(missing -> all.add(new Unmet(RoomFound.PROPERTY, "enough of it", missing)));
    return all;
  }

  /**
   * Memory that a freeze takes, and what there is.
   *
   * @param needed all of it at the worst moment, what is used now included
   * @param used now, without what the kernel gives back
   * @param limit of the container or of what stands above it, whichever runs full first; empty
   *     where there is none
   * @param nodeFree what the machine can give
   * @param missing the sentence with both numbers, when there is too little
   */
  public record RoomFound(
      long needed, long used, OptionalLong limit, long nodeFree, Optional<String> missing) {

    /** How a room that is too small is called. */
    public static final String PROPERTY = "room for device memory";

    /** Nothing is known of a workload that could not be looked at. */
    static RoomFound unknown() {
      return new RoomFound(0, 0, OptionalLong.empty(), 0, Optional.empty());
    }

    /** Whether the machine itself has too little, which no higher limit helps. */
    public boolean nodeIsFull() {
      return missing.isPresent() && nodeFree < needed - used;
    }
  }
}
