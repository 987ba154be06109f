package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.artifact.ProcessFacts;
import dev.stasis.artifact.Region;
import dev.stasis.artifact.RegionSet;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;

/**
 * Starts the keeper of a restore, and loads device memory onto the GPU while criu restores the
 * process to which it belongs. {@link ReloadStep} loads the rest from the files: what the GPU has
 * no space for now, and everything if the workload has several GPUs, because the files do not name
 * the GPU of a region.
 */
final class Prefill {

  private static final System.Logger LOG = System.getLogger(Prefill.class.getName());

  private final Restoring restoring;

  Prefill(Restoring restoring) {
    this.restoring = restoring;
  }

  void run() throws StepFailure, InterruptedException {
    long begin = restoring.node().nanoTime().getAsLong();
    try (Keeper keeper = restoring.node().keepers().open(restoring.work().containerId())) {
      if (restoring.gpus().size() != 1) {
        return;
      }
      for (RegionSet set : restoring.artifact().manifest().deviceSets()) {
        load(keeper, restoring.gpus().get(0), set);
      }
      LOG.log(
          System.Logger.Level.INFO,
          "Device memory loaded beside the restore: container={0} ms={1}",
          restoring.work().containerId(),
          "" + (restoring.node().nanoTime().getAsLong() - begin) / 1_000_000);
    } catch (KeeperFailure e) {
      throw new StepFailure(Reason.REGION_MOVE, String.valueOf(e.getMessage()), e);
    }
  }

  private void load(Keeper keeper, Gpu gpu, RegionSet set)
      throws StepFailure, InterruptedException {
    Path files = files(restoring, set);
    try {
      reserve(keeper, gpu, files);
      keeper.prefill(files, set.regions().stream().mapToLong(Region::length).sum());
    } catch (KeeperFailure e) {
      if (e.isDamage()) {
        throw damaged(set, e);
      }
      LOG.log(System.Logger.Level.INFO, "Loaded after the restore: {0}", e.getMessage());
    }
  }

  /** Another Restore that has seen the memory free must not lose it to us. */
  private void reserve(Keeper keeper, Gpu gpu, Path files)
      throws KeeperFailure, StepFailure, InterruptedException {
    long workload =
        restoring.cudaFacts().stream()
            .map(ProcessFacts::gpuBytes)
            .flatMap(bytes -> bytes.values().stream())
            .mapToLong(Long::longValue)
            .sum();
    Duration wait = restoring.request().options().memoryWait();
    try (GpuGate.Pass pass = restoring.node().gate().hold(Set.of(gpu.uuid()), wait)) {
      // All that the workload had, a second time: neither the driver nor the reload lacks memory.
      keeper.reserve(gpu.uuid(), (workload + GpuGate.margin(gpu) >> 20) + 1, files);
    }
  }

  /** The path of a process's files without their suffixes. */
  static Path files(Restoring restoring, RegionSet set) {
    String data = restoring.artifact().data(set).toAbsolutePath().toString();
    return Path.of(data.substring(0, data.length() - ".data".length()));
  }

  static StepFailure damaged(RegionSet set, KeeperFailure e) {
    return new StepFailure(Reason.ARTIFACT_REFUSED, set.data() + ": " + e.getMessage(), e);
  }
}
