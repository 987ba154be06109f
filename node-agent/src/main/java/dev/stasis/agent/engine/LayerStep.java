package dev.stasis.agent.engine;

import dev.stasis.agent.container.OverlayLayers;
import dev.stasis.agent.process.Mount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Packs what the workload wrote, of the same moment as the dump: its writable layer, /dev/shm and
 * the mounts that go along. What is read here is also described here, for the manifest.
 */
final class LayerStep implements Step<Freeze, FrozenWork> {

  @Override
  public String name() {
    return "layer";
  }

  @Override
  public String undoName() {
    return "release";
  }

  @Override
  public void run(Freeze freeze) throws StepFailure {
    freeze.describe();
    @Nullable Path upper = freeze.source().layers().flatMap(OverlayLayers::upper).orElse(null);
    List<String> volumes = new ArrayList<>();
    for (Mount mount : freeze.source().mounts()) {
      boolean sharedMemory = mount.mountPoint().equals("/dev/shm") && mount.type().equals("tmpfs");
      if (sharedMemory || freeze.request().packedMounts().contains(mount.mountPoint())) {
        volumes.add(mount.mountPoint());
      }
    }
    Path root = freeze.node().proc().folder(freeze.source().root().pid()).resolve("root");
    try {
      freeze.layerPacker().pack(upper, root, volumes, freeze.artifact().layer());
      freeze.stages().finished(freeze.artifact().layer());
    } catch (IOException e) {
      throw new StepFailure(Reason.LAYER_FAILED, "writable layer: " + e.getMessage(), e);
    }
  }

  /** Only the artifact's staging folder was written; it is discarded with the rest. */
  @Override
  public void undo(FrozenWork frozen) {}
}
