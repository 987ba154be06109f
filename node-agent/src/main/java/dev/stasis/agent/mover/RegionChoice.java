package dev.stasis.agent.mover;

import dev.stasis.artifact.Region;
import java.util.List;

/** Selects the memory of a process that the agent may move by itself. */
public sealed interface RegionChoice {

  /** These regions hold the device memory, and only the driver uses them. */
  record Movable(List<Region> regions) implements RegionChoice {

    public Movable {
      regions = List.copyOf(regions);
    }
  }

  /** criu dumps everything, which is always correct; {@code why} is shown to users. */
  record LeftToCriu(String why) implements RegionChoice {}
}
