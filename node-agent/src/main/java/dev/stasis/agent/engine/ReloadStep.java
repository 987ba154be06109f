package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.process.ProcessId;
import dev.stasis.artifact.Region;
import dev.stasis.artifact.RegionSet;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The library in each restored process loads its large allocations, every chunk checked against its
 * digest; only then the gates open.
 *
 * <p>Has no undo: reloaded memory ends with its process.
 */
final class ReloadStep implements Step<Restoring, FrozenWork> {

  private static final System.Logger LOG = System.getLogger(ReloadStep.class.getName());

  @Override
  public String name() {
    return "reload";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure, InterruptedException {
    Map<RegionSet, ProcessId> sets = new LinkedHashMap<>();
    for (RegionSet set : restoring.artifact().manifest().deviceSets()) {
      ProcessId process = restoring.byOwnPid().get(set.ownPid());
      if (process == null) {
        throw new StepFailure(
            Reason.ARTIFACT_REFUSED,
            "device memory: expected that of a process of the tree, got that of pid "
                + set.ownPid());
      }
      sets.put(set, process);
    }
    if (sets.isEmpty()) {
      return;
    }
    List<CudaProcess> cuda =
        restoring.work().cuda().stream().filter(one -> sets.containsValue(one.process())).toList();
    long begin = restoring.node().nanoTime().getAsLong();
    restoring.awaitKeeper();
    long loaded = restoring.node().nanoTime().getAsLong();
    Duration wait = restoring.request().options().memoryWait();
    try (Keeper keeper = restoring.node().keepers().open(restoring.work().containerId());
        GpuGate.Pass pass = restoring.node().gate().hold(restoring.gpuSet(), wait)) {
      keeper.use(gpus(restoring, cuda));
      for (Map.Entry<RegionSet, ProcessId> one : sets.entrySet()) {
        reload(keeper, Prefill.files(restoring, one.getKey()), one.getKey(), one.getValue());
      }
      LOG.log(
          System.Logger.Level.INFO,
          "Device memory reloaded: container={0} waitedMs={1} ms={2}",
          restoring.work().containerId(),
          "" + (loaded - begin) / 1_000_000,
          "" + (restoring.node().nanoTime().getAsLong() - loaded) / 1_000_000);
      restoring.memory().measure(cuda);
      // A process may wait for another one as soon as it runs.
      for (ProcessId process : sets.values()) {
        keeper.open(process);
      }
    } catch (KeeperFailure e) {
      throw new StepFailure(
          e.isOutOfMemory() ? Reason.NO_ROOM : Reason.REGION_MOVE,
          "device memory of the direct path: " + e.getMessage(),
          e);
    } finally {
      restoring.node().keepers().rest(restoring.work().containerId());
    }
  }

  /**
   * The GPUs of the processes, except those that the driver has restored as a whole: they may run a
   * long kernel, and a new context ends it. The artifact may be forged, so only the GPUs of the
   * target count.
   */
  private static Set<GpuUuid> gpus(Restoring restoring, List<CudaProcess> processes) {
    Set<GpuUuid> gpus = new TreeSet<>();
    processes.forEach(one -> gpus.addAll(one.deviceBytes().keySet()));
    gpus.retainAll(restoring.gpuSet());
    return gpus;
  }

  private static void reload(Keeper keeper, Path files, RegionSet set, ProcessId process)
      throws KeeperFailure, StepFailure, InterruptedException {
    keeper.attach(process);
    try {
      keeper.reload(process, files, set.regions().stream().mapToLong(Region::length).sum());
    } catch (KeeperFailure e) {
      if (e.isDamage()) {
        throw Prefill.damaged(set, e);
      }
      throw e;
    }
  }
}
