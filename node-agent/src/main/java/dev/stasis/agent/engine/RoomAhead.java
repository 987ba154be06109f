package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes room in host memory, before the freeze, for device memory that will be written there while
 * the workload is frozen. The pages then exist and are pinned, so the GPU fills them at the speed
 * of the bus. If there is no room, the freeze takes longer and nothing else changes.
 */
final class RoomAhead {

  private static final System.Logger LOG = System.getLogger(RoomAhead.class.getName());

  private final Freeze freeze;

  RoomAhead(Freeze freeze) {
    this.freeze = freeze;
  }

  void make(DataPath.Direct direct) throws StepFailure, InterruptedException {
    // Before an eviction it would only take time: what counts is when the GPU is free.
    if (!freeze.stage().inMemory() || freeze.request().after() == After.EVICT) {
      return;
    }
    String container = freeze.work().containerId();
    try (Keeper keeper = freeze.node().keepers().open(container)) {
      Map<ProcessId, Gate> gates = new LinkedHashMap<>();
      for (ProcessId process : direct.processes()) {
        gates.put(process, freeze.node().keepers().look(process));
      }
      if (freeze.request().after() == After.RESUME && fitsOnTheGpus(gates)) {
        return;
      }
      for (Map.Entry<ProcessId, Gate> one : gates.entrySet()) {
        Path file = freeze.offloading().file(freeze.ownPid(one.getKey()));
        Files.createDirectories(file.resolveSibling("."));
        GpuUuid gpu = freeze.deviceBytes(one.getKey()).keySet().iterator().next();
        keeper.room(gpu, one.getValue().bytes(), file);
      }
    } catch (KeeperFailure | IOException e) {
      LOG.log(
          System.Logger.Level.INFO,
          "No host memory prepared for {0}: {1}",
          container,
          e.getMessage());
    }
  }

  /** Whether the keeper will find space for a copy; if it finds none after all, it writes files. */
  private boolean fitsOnTheGpus(Map<ProcessId, Gate> gates) throws StepFailure {
    long reserve = freeze.offloading().snapshotReserveMib() << 20;
    Map<GpuUuid, Long> wanted = new TreeMap<>();
    for (Map.Entry<ProcessId, Gate> one : gates.entrySet()) {
      long largest = one.getValue().largest();
      freeze
          .deviceBytes(one.getKey())
          .forEach((gpu, bytes) -> wanted.merge(gpu, bytes + largest, Long::sum));
    }
    wanted.replaceAll((gpu, bytes) -> bytes + reserve);
    return freeze.node().gate().missing(wanted).isEmpty();
  }
}
