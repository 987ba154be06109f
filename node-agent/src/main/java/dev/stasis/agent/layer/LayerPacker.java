package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Packs what a workload wrote while none of its threads runs. Reads the overlay's upper folder for
 * what changed, which is consistent while the tree is stopped, and changes nothing in it; where the
 * upper folder holds only a part (a renamed folder, a file with new metadata), the container's own
 * view gives the rest.
 */
public final class LayerPacker {
  private final List<String> mountPoints;

  /**
   * Makes ready, so that nothing has to be loaded while the workload stands still: make it before.
   *
   * @param mountPoints every mount point of the container, as its mount table has them
   * @throws IOException when the system's library does not answer
   */
  public LayerPacker(List<String> mountPoints) throws IOException {
    this.mountPoints = List.copyOf(mountPoints);
    try (Handle any = Handle.ofTrusted(Path.of("/"))) {
      any.stat();
    }
  }

  /**
   * Packs a container.
   *
   * @param upper the upper folder of its overlay; null when its root is no overlay, so that nobody
   *     can tell what it wrote there, and only the volumes are packed
   * @param root its root as it sees it: {@code /proc/PID/root}
   * @param volumes the mount points whose content belongs to the workload: /dev/shm, emptyDirs
   * @param folder where the archives and their index go
   * @throws IOException when anything cannot be packed as it is; what is there by then is of no use
   */
  public LayerIndex pack(@Nullable Path upper, Path root, List<String> volumes, Path folder)
      throws IOException {
    List<LayerIndex.Part> parts = new ArrayList<>();
    try (Handle merged = Handle.ofTrusted(root)) {
      if (upper != null) {
        parts.add(layer(upper, merged, folder));
      }
      for (String volume : volumes) {
        parts.add(volume(volume, merged, folder, "volume-%d.tar".formatted(parts.size())));
      }
    }
    LayerIndex index = new LayerIndex(parts);
    index.write(folder);
    return index;
  }

  private LayerIndex.Part layer(Path upper, Handle merged, Path folder) throws IOException {
    try (Handle changed = Handle.ofTrusted(upper);
        HardLinks links = new HardLinks(folder);
        PaxWriter archive = new PaxWriter(folder.resolve("root.tar"))) {
      HookFiles hooks = new HookFiles(MountTargets.of(mountPoints));
      TreePacker packer = new TreePacker(archive, hooks, merged, links);
      packer.overlay(changed);
      return packer.finish("/", "root.tar");
    }
  }

  private static LayerIndex.Part volume(String target, Handle merged, Path folder, String name)
      throws IOException {
    HookFiles hooks = new HookFiles(MountTargets.of(List.of()));
    try (Handle tree = merged.folderInRoot(MountTargets.bytes(target));
        HardLinks links = new HardLinks(folder);
        PaxWriter archive = new PaxWriter(folder.resolve(name))) {
      TreePacker packer = new TreePacker(archive, hooks, tree, links);
      packer.everything(tree, ".");
      return packer.finish(target, name);
    }
  }
}
