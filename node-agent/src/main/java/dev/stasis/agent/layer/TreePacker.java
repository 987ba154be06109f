package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Packs one tree of files. */
final class TreePacker {
  private static final String OVERLAY = "trusted.overlay.";

  private final PaxWriter archive;
  private final HookFiles hooks;
  private final Handle merged;
  private final Map<String, String> firstPaths = new HashMap<>();
  private final List<String> deleted = new ArrayList<>();
  private final List<String> leftOut = new ArrayList<>();
  private long entries;

  /**
   * @param merged the tree as the container sees it
   */
  TreePacker(PaxWriter archive, HookFiles hooks, Handle merged) {
    this.archive = archive;
    this.hooks = hooks;
    this.merged = merged;
  }

  /** Packs an overlay's upper folder: what differs from the image. */
  void overlay(Handle upper) throws IOException {
    inode(upper, ".", true);
    children(upper, ".", true);
  }

  /** Packs a folder with all below it on the same mount; nothing else is to be there later. */
  void everything(Handle folder, String path) throws IOException {
    Map<String, byte[]> attributes = attributes(folder, false);
    attributes.put(LayerEntry.OPAQUE, new byte[] {'y'});
    write(entry(folder.stat(), path, LayerEntry.Kind.FOLDER, attributes));
    children(folder, path, false);
  }

  LayerIndex.Part finish(String target, String name) throws IOException {
    archive.finish();
    return new LayerIndex.Part(target, name, entries, archive.size(), deleted, leftOut);
  }

  private void children(Handle folder, String path, boolean overlay) throws IOException {
    for (String name : folder.children()) {
      String child = path.equals(".") ? name : path + "/" + name;
      try (Handle inode = folder.at(name)) {
        Stat stat = inode.stat();
        String link = stat.type() == Stat.Type.SYMLINK ? inode.linkTarget() : null;
        Optional<String> foreign = hooks.foreign(child, link);
        if (foreign.isPresent()) {
          leaveOut(child, foreign.get());
        } else if (stat.type() == Stat.Type.FOLDER) {
          folder(folder, name, child, overlay);
        } else {
          leaf(folder, name, child, overlay, inode, stat);
        }
      } catch (LinuxError e) {
        if (e.number() == Libc.EXDEV) {
          leaveOut(child, "a mount point");
        } else {
          throw new IOException("%s: %s".formatted(LinuxError.shown(child), e.getMessage()), e);
        }
      }
    }
  }

  private void folder(Handle parent, String name, String path, boolean overlay) throws IOException {
    try (Handle folder = parent.folder(name)) {
      // A renamed folder of the image: only the container's view has all of its files.
      if (overlay && folder.attributes().containsKey(OVERLAY + "redirect")) {
        try (Handle whole = merged.folder(path)) {
          everything(whole, path);
        }
        return;
      }
      inode(folder, path, overlay);
      children(folder, path, overlay);
    }
  }

  private void inode(Handle folder, String path, boolean overlay) throws IOException {
    write(entry(folder.stat(), path, LayerEntry.Kind.FOLDER, attributes(folder, overlay)));
  }

  private void leaf(
      Handle parent, String name, String path, boolean overlay, Handle inode, Stat stat)
      throws IOException {
    if (stat.isWhiteout()) {
      if (overlay) {
        deleted.add(LinuxError.shown(path));
        write(entry(stat, path, LayerEntry.Kind.CHARACTER_DEVICE, Map.of()));
      }
      return;
    }
    String first = stat.links() > 1 ? firstPaths.putIfAbsent(stat.inode(), path) : null;
    if (first != null) {
      write(link(entry(stat, path, LayerEntry.Kind.HARD_LINK, Map.of()), first));
      return;
    }
    Map<String, byte[]> attributes = attributes(inode, false);
    switch (stat.type()) {
      case FILE -> file(parent, name, path, entry(stat, path, LayerEntry.Kind.FILE, attributes));
      case SYMLINK ->
          write(link(entry(stat, path, LayerEntry.Kind.SYMLINK, attributes), inode.linkTarget()));
      case FIFO -> write(entry(stat, path, LayerEntry.Kind.FIFO, attributes));
      case CHARACTER_DEVICE ->
          write(entry(stat, path, LayerEntry.Kind.CHARACTER_DEVICE, attributes));
      case BLOCK_DEVICE -> write(entry(stat, path, LayerEntry.Kind.BLOCK_DEVICE, attributes));
      case SOCKET -> leaveOut(path, "a socket, which its program makes");
      case FOLDER -> throw new IOException(path + ": wanted a file, found a folder by now");
    }
  }

  private void file(Handle parent, String name, String path, LayerEntry entry) throws IOException {
    try (Handle upper = parent.file(name)) {
      if (upper.attributes().containsKey(OVERLAY + "metacopy")) {
        try (Handle whole = merged.file(path)) {
          contents(whole, entry);
        }
      } else {
        contents(upper, entry);
      }
    }
  }

  private void contents(Handle file, LayerEntry entry) throws IOException {
    List<LayerEntry.Extent> extents = new ArrayList<>();
    long size = entry.size();
    for (long at = file.seek(0, true, size); at < size; ) {
      long end = file.seek(at, false, size);
      extents.add(new LayerEntry.Extent(at, end - at));
      at = end < size ? file.seek(end, true, size) : size;
    }
    try (FileChannel data = file.channel(StandardOpenOption.READ)) {
      archive.write(
          new LayerEntry(
              entry.path(),
              entry.kind(),
              entry.mode(),
              entry.uid(),
              entry.gid(),
              entry.seconds(),
              entry.nanos(),
              "",
              0,
              0,
              entry.attributes(),
              size,
              extents),
          data);
      entries++;
    }
  }

  private void write(LayerEntry entry) throws IOException {
    archive.write(entry, null);
    entries++;
  }

  private void leaveOut(String path, String reason) {
    leftOut.add("%s: %s".formatted(LinuxError.shown(path), reason));
  }

  /** The attributes that are the program's, and the mark of a folder that hides the image's. */
  private static Map<String, byte[]> attributes(Handle inode, boolean overlayFolder)
      throws IOException {
    Map<String, byte[]> kept = new TreeMap<>();
    inode
        .attributes()
        .forEach(
            (name, value) -> {
              boolean opaque =
                  overlayFolder
                      && name.equals(LayerEntry.OPAQUE)
                      && value.length == 1
                      && value[0] == 'y';
              if (opaque || LayerEntry.isPrograms(name)) {
                kept.put(name, value);
              }
            });
    return kept;
  }

  private static LayerEntry entry(
      Stat stat, String path, LayerEntry.Kind kind, Map<String, byte[]> attributes) {
    boolean device =
        kind == LayerEntry.Kind.CHARACTER_DEVICE || kind == LayerEntry.Kind.BLOCK_DEVICE;
    return new LayerEntry(
        path,
        kind,
        stat.mode(),
        stat.uid(),
        stat.gid(),
        stat.seconds(),
        stat.nanos(),
        "",
        device ? stat.major() : 0,
        device ? stat.minor() : 0,
        attributes,
        kind == LayerEntry.Kind.FILE ? stat.size() : 0,
        List.of());
  }

  private static LayerEntry link(LayerEntry entry, String target) {
    return new LayerEntry(
        entry.path(),
        entry.kind(),
        entry.mode(),
        entry.uid(),
        entry.gid(),
        entry.seconds(),
        entry.nanos(),
        target,
        0,
        0,
        entry.attributes(),
        0,
        List.of());
  }
}
