package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Packs what a workload wrote, most of it while the workload still runs, and the changes while none
 * of its threads runs. Reads the overlay's upper folder for what changed, which is consistent while
 * the tree is stopped, and changes nothing in it; where the upper folder holds only a part (a
 * renamed folder, a file with new metadata), the container's own view gives the rest.
 */
public final class LayerPacker implements AutoCloseable {

  private static final String LAYER = "/";

  private final List<String> mountPoints;
  private final Map<String, Begun> begun = new HashMap<>();

  /** Hears how far packing is. */
  @FunctionalInterface
  public interface Watch {

    /**
     * Called after each file, or more often.
     *
     * @param bytes of the archive that is being written
     * @throws IOException ends it
     */
    void packed(long bytes) throws IOException;
  }

  /**
   * The files that the workload had open for writing.
   *
   * @param before when that was going to be looked for
   * @param names their names, without the folders
   */
  public record OpenFiles(Instant before, Set<String> names) {

    /** Takes the paths of the files. */
    public static OpenFiles of(Instant before, Set<String> paths) {
      return new OpenFiles(before, LayerPacker.names(paths));
    }

    boolean has(String path) {
      return names.contains(path.substring(path.lastIndexOf('/') + 1));
    }
  }

  private static Set<String> names(Set<String> paths) {
    return paths.stream()
        .map(path -> MountTargets.bytes(path.substring(path.lastIndexOf('/') + 1)))
        .collect(Collectors.toSet());
  }

  /** An archive that was begun while the workload ran. */
  private record Begun(PaxWriter archive, PackedAhead packed) {}

  /**
   * Makes ready, so that nothing has to be loaded while the workload is frozen: make it before.
   *
   * @param mountPoints every mount point of the container, as its mount table has them
   * @throws IOException if the C library does not answer
   */
  public LayerPacker(List<String> mountPoints) throws IOException {
    this.mountPoints = List.copyOf(mountPoints);
    try (Handle any = Handle.ofTrusted(Path.of("/"))) {
      any.stat();
    }
  }

  /**
   * Begins to pack a container that runs, where its file systems tell later what has changed. The
   * other parameters are those of {@link #pack}.
   *
   * @param open what it had open for writing just now
   * @throws IOException when the folder cannot be written, or the watch ends it
   */
  public void packAhead(
      @Nullable Path upper,
      Path root,
      List<String> volumes,
      Path folder,
      OpenFiles open,
      Watch watch)
      throws IOException {
    try (Handle merged = Handle.ofTrusted(root)) {
      if (upper != null) {
        try (Handle changed = Handle.ofTrusted(upper)) {
          packAhead(LAYER, changed, folder.resolve(archive(LAYER, volumes)), open, watch);
        }
      }
      for (String volume : volumes) {
        try (Handle tree = merged.folderInRoot(MountTargets.bytes(volume))) {
          packAhead(volume, tree, folder.resolve(archive(volume, volumes)), open, watch);
        }
      }
    }
  }

  private void packAhead(String target, Handle tree, Path file, OpenFiles open, Watch watch)
      throws IOException {
    if (tree.keepsTimesOfChange()) {
      Begun one = new Begun(new PaxWriter(file), new PackedAhead());
      begun.put(target, one);
      boolean overlay = target.equals(LAYER);
      one.archive.waitForDisk();
      new AheadPacker(one.archive, hooks(target), one.packed, open, watch).pack(tree, overlay);
      // Else the disk is still busy with it when the workload is frozen.
      one.archive.sync();
    }
  }

  private HookFiles hooks(String target) {
    return new HookFiles(MountTargets.of(target.equals(LAYER) ? mountPoints : List.of()));
  }

  private static String archive(String target, List<String> volumes) {
    return target.equals(LAYER)
        ? "root.tar"
        : "volume-%d.tar".formatted(1 + volumes.indexOf(target));
  }

  /**
   * Packs a container.
   *
   * @param upper the upper folder of its overlay; null when its root is no overlay, so that nobody
   *     can tell what it wrote there, and only the volumes are packed
   * @param root its root as it sees it: {@code /proc/PID/root}
   * @param volumes the mount points whose content belongs to the workload: /dev/shm, emptyDirs
   * @param folder where the archives and their index go
   * @param written paths of files that processes of the stopped tree map shared and writable, which
   *     a device may write to unnoticed
   * @param watch called after each write
   * @throws IOException if anything cannot be packed unchanged; the incomplete archive is unusable
   */
  public LayerIndex pack(
      @Nullable Path upper,
      Path root,
      List<String> volumes,
      Path folder,
      Set<String> written,
      Watch watch)
      throws IOException {
    Set<String> names = names(written);
    begun.values().forEach(one -> one.packed.mayBeWritten(names));
    List<LayerIndex.Part> parts = new ArrayList<>();
    try (Handle merged = Handle.ofTrusted(root)) {
      if (upper != null) {
        try (Handle changed = Handle.ofTrusted(upper)) {
          parts.add(pack(LAYER, changed, merged, folder, archive(LAYER, volumes), watch));
        }
      }
      for (String volume : volumes) {
        try (Handle tree = merged.folderInRoot(MountTargets.bytes(volume))) {
          parts.add(pack(volume, tree, tree, folder, archive(volume, volumes), watch));
        }
      }
    }
    LayerIndex index = new LayerIndex(parts);
    index.write(folder);
    return index;
  }

  private LayerIndex.Part pack(
      String target, Handle tree, Handle merged, Path folder, String name, Watch watch)
      throws IOException {
    Begun ahead = begun.remove(target);
    PackedAhead packed = ahead == null ? new PackedAhead() : ahead.packed;
    try (HardLinks links = new HardLinks(folder);
        PaxWriter archive = ahead == null ? new PaxWriter(folder.resolve(name)) : ahead.archive) {
      archive.reportTo(watch);
      TreePacker packer = new TreePacker(archive, hooks(target), merged, links, packed);
      if (target.equals(LAYER)) {
        packer.overlay(tree);
      } else {
        packer.everything(tree, ".");
      }
      return packer.finish(target, name);
    }
  }

  /** Closes what {@link #packAhead} has begun and {@link #pack} has not taken. */
  @Override
  public void close() throws IOException {
    for (Begun one : begun.values()) {
      one.archive.close();
    }
    begun.clear();
  }
}
