package dev.stasis.local.gpu;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The allocation of GPUs to containers. A container keeps its GPUs as long as its pod lives. */
public final class GpuAllocations {

  /** The resource's name. */
  public static final String RESOURCE = "nvidia.com/gpu";

  /** A container of a pod. */
  public record Holder(String podUid, String container) {}

  private final GpuSupply supply;
  private final Map<Holder, List<GpuSupply.Device>> given = new HashMap<>();

  public GpuAllocations(GpuSupply supply) {
    this.supply = supply;
  }

  public GpuSupply supply() {
    return supply;
  }

  /** Allocates that many GPUs, the same ones for a repeated call; empty if there are too few. */
  public synchronized Optional<List<GpuSupply.Device>> give(Holder holder, int count) {
    List<GpuSupply.Device> before = given.get(holder);
    if (before != null) {
      return Optional.of(before);
    }
    Set<GpuSupply.Device> taken = new HashSet<>();
    given.values().forEach(taken::addAll);
    List<GpuSupply.Device> mine = new ArrayList<>();
    for (GpuSupply.Device device : supply.gpus()) {
      if (mine.size() < count && !taken.contains(device)) {
        mine.add(device);
      }
    }
    if (mine.size() < count) {
      return Optional.empty();
    }
    given.put(holder, List.copyOf(mine));
    return Optional.of(List.copyOf(mine));
  }

  /** Returns the GPUs of a container; empty if it requested none. */
  public synchronized List<GpuSupply.Device> of(Holder holder) {
    return given.getOrDefault(holder, List.of());
  }

  /** Releases all GPUs of a pod. */
  public synchronized void takeBack(String podUid) {
    given.keySet().removeIf(holder -> holder.podUid().equals(podUid));
  }
}
