package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Packs the folders and files of one tree while its workload runs. Whatever changes under it is
 * passed over, and packed by a {@link TreePacker} once the workload is stopped.
 *
 * <p>A file counts as unchanged as long as its inode, its size and the time of its last change stay
 * the same. The kernel sets that time when a write begins, which can take seconds. So a file that
 * was open for writing is passed over, and one that has changed since that was seen. For memory the
 * kernel sets it only at the first store to a clean page of a shared mapping. So a file is written
 * back before it is read, which makes its pages clean.
 */
final class AheadPacker {

  /**
   * The kernel's clock for files ticks every 10 ms at most; a later change in one tick is missed.
   */
  private static final long SETTLED_SECONDS = 1;

  private final PaxWriter archive;
  private final HookFiles hooks;
  private final PackedAhead packed;
  private final LayerPacker.OpenFiles open;
  private final LayerPacker.Watch watch;

  AheadPacker(
      PaxWriter archive,
      HookFiles hooks,
      PackedAhead packed,
      LayerPacker.OpenFiles open,
      LayerPacker.Watch watch) {
    this.archive = archive;
    this.hooks = hooks;
    this.packed = packed;
    this.open = open;
    this.watch = watch;
  }

  private record Level(Handle folder, Listing names, String path) {
    String path(String name) {
      return path.equals(".") ? name : path + "/" + name;
    }
  }

  /**
   * Packs a tree.
   *
   * @param overlay whether it is an overlay's upper folder; else nothing else is to be there later
   * @throws IOException when the archive cannot be written, or the watch ends it
   */
  void pack(Handle top, boolean overlay) throws IOException {
    Map<String, byte[]> attributes = new TreeMap<>(TreePacker.attributes(top, overlay));
    if (!overlay) {
      attributes.put(LayerEntry.OPAQUE, new byte[] {'y'});
    }
    Stat stat = top.stat();
    archive.write(TreePacker.entry(stat, ".", LayerEntry.Kind.FOLDER, attributes));
    packed.addFolder(".", stat, !overlay);
    Deque<Level> levels = new ArrayDeque<>();
    levels.push(new Level(top, new Listing(top), "."));
    try {
      while (!levels.isEmpty() && !packed.isFull()) {
        Level level = levels.getFirst();
        String name = level.names.next();
        if (name == null) {
          if (levels.pop().folder != top) {
            level.folder.close();
          }
        } else {
          watch.packed(archive.size());
          child(level, name, overlay).ifPresent(levels::push);
        }
      }
    } finally {
      levels.stream().map(Level::folder).filter(folder -> folder != top).forEach(Handle::close);
    }
  }

  private Optional<Level> child(Level parent, String name, boolean overlay) throws IOException {
    String path = parent.path(name);
    long begin = archive.size();
    if (path.length() > TreePacker.LONGEST_PATH || hooks.foreign(path, null).isPresent()) {
      return Optional.empty();
    }
    try (Handle inode = parent.folder.at(name)) {
      Stat stat = inode.stat();
      if (stat.type() == Stat.Type.FOLDER) {
        return folder(parent, name, path, overlay);
      }
      if (stat.type() == Stat.Type.FILE) {
        file(inode, path, overlay);
      }
    } catch (IOException e) {
      archive.cut(begin);
      if (isFull(e)) {
        throw e;
      }
    }
    return Optional.empty();
  }

  /** The store's disk, since nothing else is written to. */
  private static boolean isFull(IOException e) {
    String message = String.valueOf(e.getMessage());
    return message.contains("No space left") || message.contains("quota exceeded");
  }

  private Optional<Level> folder(Level parent, String name, String path, boolean overlay)
      throws IOException {
    Handle folder = parent.folder.folder(name);
    try {
      Map<String, byte[]> all = folder.attributes();
      if (!overlay || !all.containsKey(TreePacker.OVERLAY + "redirect")) {
        Stat stat = folder.stat();
        Map<String, byte[]> attributes = TreePacker.attributes(folder, overlay);
        archive.write(TreePacker.entry(stat, path, LayerEntry.Kind.FOLDER, attributes));
        packed.addFolder(path, stat, attributes.containsKey(LayerEntry.OPAQUE));
        return Optional.of(new Level(folder, new Listing(folder), path));
      }
    } catch (IOException e) {
      folder.close();
      throw e;
    }
    folder.close();
    return Optional.empty();
  }

  /** A file with several names is left to the {@link TreePacker}, which knows all of them. */
  private void file(Handle inode, String path, boolean overlay) throws IOException {
    try (Handle file = inode.forReading()) {
      Stat stat = file.stat();
      boolean settled = stat.changedSeconds() < open.before().getEpochSecond() - SETTLED_SECONDS;
      if (stat.links() != 1
          || !settled
          || open.has(path)
          || (overlay && file.attributes().containsKey(TreePacker.OVERLAY + "metacopy"))) {
        return;
      }
      LayerEntry entry =
          TreePacker.entry(stat, path, LayerEntry.Kind.FILE, TreePacker.attributes(file, false));
      try (FileChannel data = file.channel(StandardOpenOption.READ)) {
        data.force(false);
        archive.write(entry, Extents.of(file, stat.size()), data);
      }
      packed.addFile(path, stat);
    }
  }
}
