package dev.stasis.agent.mover;

import dev.stasis.artifact.Region;
import java.util.List;

/** Which memory of a process the agent may move by itself. */
public sealed interface RegionChoice {

  /** These regions hold the device memory, and nothing but the driver uses them. */
  record Movable(List<Region> regions) implements RegionChoice {

    public Movable {
      regions = List.copyOf(regions);
    }

    /** Bytes of all regions. */
    public long bytes() {
      return regions.stream().mapToLong(Region::length).sum();
    }
  }

  /** criu moves everything, which is always right; {@code why} is shown to users. */
  record LeftToCriu(String why) implements RegionChoice {}
}
