package dev.stasis.agent.engine;

import dev.stasis.agent.process.MemoryMapping;
import java.io.IOException;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Packs the files that the workload wrote, at the same time as the dump: its writable layer,
 * /dev/shm and the packed mounts. It also records them for the manifest.
 *
 * <p>Has no undo: only the artifact's staging folder was written, and it is discarded with the
 * rest.
 */
final class LayerStep implements Step<Freeze, FrozenWork> {

  @Override
  public String name() {
    return "layer";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure, InterruptedException {
    freeze.describe();
    PackedFolders folders =
        PackedFolders.of(freeze.node().proc(), freeze.source(), freeze.request());
    Set<String> written = written(freeze);
    try {
      freeze
          .storeCalls()
          .call(
              "layer of " + freeze.work().containerId(),
              pulse -> {
                var unused =
                    freeze
                        .layerPacker()
                        .pack(
                            folders.upper(),
                            folders.root(),
                            folders.volumes(),
                            freeze.artifact().layer(),
                            written,
                            bytes -> pulse.beat());
                pulse.beat();
                freeze.stages().finished(freeze.artifact().layer());
                return unused;
              });
    } catch (IOException e) {
      throw new StepFailure(Reason.LAYER_FAILED, "writable layer: " + e.getMessage(), e);
    }
  }

  /** The files that its processes map shared and writable. */
  private static Set<String> written(Freeze freeze) {
    return freeze.work().tree().stream()
        .flatMap(process -> freeze.node().proc().maps(process.pid()).stream())
        .filter(map -> !map.isPrivate() && map.isWritable() && map.inode() != 0)
        .map(MemoryMapping::path)
        .collect(Collectors.toSet());
  }
}
