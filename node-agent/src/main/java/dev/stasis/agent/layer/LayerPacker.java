package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Packs what a workload wrote while none of its threads runs. Reads the overlay's upper folder for
 * what changed, which is consistent while the tree is stopped, and changes nothing in it; where the
 * upper folder holds only a part (a renamed folder, a file with new metadata), the container's own
 * view gives the rest.
 */
public final class LayerPacker {
  private final List<String> mountPoints;

  /**
   * @param mountPoints every mount point of the container, as its mount table has them
   */
  public LayerPacker(List<String> mountPoints) {
    this.mountPoints = List.copyOf(mountPoints);
  }

  /**
   * Packs a container.
   *
   * @param upper the upper folder of its overlay
   * @param root its root as it sees it: {@code /proc/PID/root}
   * @param volumes the mount points whose content belongs to the workload: /dev/shm, emptyDirs
   * @param folder where the archives and their index go
   * @throws IOException when anything cannot be packed as it is; what is there by then is of no use
   */
  public LayerIndex pack(Path upper, Path root, List<String> volumes, Path folder)
      throws IOException {
    List<LayerIndex.Part> parts = new ArrayList<>();
    try (Handle merged = Handle.ofTrusted(root)) {
      try (Handle changed = Handle.ofTrusted(upper);
          PaxWriter archive = new PaxWriter(folder.resolve("root.tar"))) {
        HookFiles hooks = new HookFiles(MountTargets.of(mountPoints));
        TreePacker packer = new TreePacker(archive, hooks, merged);
        packer.overlay(changed);
        parts.add(packer.finish("/", "root.tar"));
      }
      for (String volume : volumes) {
        String name = "volume-%d.tar".formatted(parts.size());
        HookFiles hooks = new HookFiles(MountTargets.of(List.of()));
        try (Handle tree = merged.folderInRoot(MountTargets.bytes(volume));
            PaxWriter archive = new PaxWriter(folder.resolve(name))) {
          TreePacker packer = new TreePacker(archive, hooks, tree);
          packer.everything(tree, ".");
          parts.add(packer.finish(volume, name));
        }
      }
    }
    LayerIndex index = new LayerIndex(parts);
    index.write(folder);
    return index;
  }
}
