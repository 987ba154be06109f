package dev.stasis.agent.layer;

import dev.stasis.agent.process.LibC;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Packs one tree of files. */
final class TreePacker {
  static final String OVERLAY = "trusted.overlay.";

  /** The kernel accepts no longer path: such a file could be packed, but never unpacked. */
  static final int LONGEST_PATH = 4095;

  private final PaxWriter archive;
  private final HookFiles hooks;
  private final Handle merged;
  private final HardLinks links;
  private final PackedAhead ahead;
  private final Remarks deleted = new Remarks();
  private final Remarks leftOut = new Remarks();
  private long entries;

  /**
   * @param merged the tree as the container sees it
   * @param links those of this tree
   * @param ahead what the archive already contains
   */
  TreePacker(
      PaxWriter archive, HookFiles hooks, Handle merged, HardLinks links, PackedAhead ahead) {
    this.links = links;
    this.ahead = ahead;
    this.entries = ahead.size();
    this.archive = archive;
    this.hooks = hooks;
    this.merged = merged;
  }

  /** Packs an overlay's upper folder: the differences from the image. */
  void overlay(Handle upper) throws IOException {
    boolean fresh = ahead.folder(".", upper.stat(), false) != PackedAhead.Found.SAME;
    inode(upper, ".", true);
    below(upper, ".", true, fresh);
    deleteVanished(upper, true);
  }

  /**
   * Packs a folder with everything below it on the same mount; the restored folder must contain
   * nothing else.
   */
  void everything(Handle folder, String path) throws IOException {
    boolean fresh = ahead.folder(path, folder.stat(), true) != PackedAhead.Found.SAME;
    if (fresh) {
      opaque(folder, path);
    } else {
      inode(folder, path, false);
    }
    below(folder, path, false, fresh);
    deleteVanished(folder, false);
  }

  /** Takes back what was packed and is gone; the time of a folder comes last. */
  private void deleteVanished(Handle top, boolean overlay) throws IOException {
    for (Map.Entry<String, List<String>> one : ahead.vanished().entrySet()) {
      for (String path : one.getValue()) {
        write(LayerEntry.deletion(path));
      }
      if (one.getKey().equals(".")) {
        inode(top, ".", overlay);
      } else {
        try (Handle folder = top.folder(one.getKey())) {
          unhidden(folder, one.getKey(), overlay);
        }
      }
    }
  }

  /** A folder again, which keeps its content in the archive. */
  private void unhidden(Handle folder, String path, boolean overlay) throws IOException {
    Map<String, byte[]> attributes = attributes(folder, overlay);
    attributes.remove(LayerEntry.OPAQUE);
    write(entry(folder.stat(), path, LayerEntry.Kind.FOLDER, attributes));
  }

  private void opaque(Handle folder, String path) throws IOException {
    Map<String, byte[]> attributes = attributes(folder, false);
    attributes.put(LayerEntry.OPAQUE, new byte[] {'y'});
    write(entry(folder.stat(), path, LayerEntry.Kind.FOLDER, attributes));
  }

  LayerIndex.Part finish(String target, String name) throws IOException {
    archive.finish();
    return new LayerIndex.Part(target, name, entries, archive.size(), deleted.all(), leftOut.all());
  }

  /** A folder that is being packed. */
  private record Level(Handle folder, Listing names, String path, boolean overlay, boolean fresh) {
    String path(String name) {
      return path.equals(".") ? name : path + "/" + name;
    }
  }

  /** Packs the content of a folder. Folders can be nested deeper than calls. */
  private void below(Handle top, String path, boolean overlay, boolean fresh) throws IOException {
    Deque<Level> levels = new ArrayDeque<>();
    levels.push(new Level(top, new Listing(top), path, overlay, fresh));
    try {
      while (!levels.isEmpty()) {
        Level level = levels.getFirst();
        String name = level.names.next();
        if (name == null) {
          if (levels.pop().folder != top) {
            level.folder.close();
          }
        } else {
          child(level, name).ifPresent(levels::push);
        }
      }
    } finally {
      levels.stream().map(Level::folder).filter(folder -> folder != top).forEach(Handle::close);
    }
  }

  /** Packs one child, and returns the next level if it is a folder. */
  private Optional<Level> child(Level parent, String name) throws IOException {
    String path = parent.path(name);
    if (path.length() > LONGEST_PATH) {
      throw new IOException(
          "%s...: expected a path of at most %d bytes, got a longer one that could not be restored"
              .formatted(LinuxError.shown(path.substring(0, 80)), LONGEST_PATH));
    }
    try (Handle inode = parent.folder.at(name)) {
      Stat stat = inode.stat();
      String link = stat.type() == Stat.Type.SYMLINK ? inode.linkTarget() : null;
      Optional<String> foreign = hooks.foreign(path, link);
      if (foreign.isPresent()) {
        leaveOut(path, foreign.get());
      } else if (stat.type() == Stat.Type.FOLDER) {
        return Optional.of(folder(parent, name, path));
      } else {
        boolean same = ahead.holds(path, stat);
        if (!same || parent.fresh) {
          leaf(path, parent.overlay, inode, stat);
        }
      }
    } catch (LinuxError e) {
      if (e.number() != LibC.EXDEV) {
        throw new IOException("%s: %s".formatted(LinuxError.shown(path), e.getMessage()), e);
      }
      leaveOut(path, "a mount point");
    }
    return Optional.empty();
  }

  private Level folder(Level parent, String name, String path) throws IOException {
    Handle folder = parent.folder.folder(name);
    boolean overlay = parent.overlay;
    boolean fresh = true;
    try {
      Map<String, byte[]> all = folder.attributes();
      boolean opaque = attributes(folder, overlay).containsKey(LayerEntry.OPAQUE);
      PackedAhead.Found found = ahead.folder(path, folder.stat(), opaque);
      // A renamed folder of the image: only the container's view has all of its files.
      if (overlay && all.containsKey(OVERLAY + "redirect")) {
        overlay = false;
        folder.close();
        folder = merged.folder(path);
        opaque(folder, path);
      } else if (found == PackedAhead.Found.SAME && !parent.fresh) {
        fresh = false;
        unhidden(folder, path, overlay);
      } else {
        if (found == PackedAhead.Found.REPLACED) {
          write(LayerEntry.deletion(path));
        }
        inode(folder, path, overlay);
      }
      return new Level(folder, new Listing(folder), path, overlay, fresh);
    } catch (IOException e) {
      folder.close();
      throw e;
    }
  }

  private void inode(Handle folder, String path, boolean overlay) throws IOException {
    write(entry(folder.stat(), path, LayerEntry.Kind.FOLDER, attributes(folder, overlay)));
  }

  private void leaf(String path, boolean overlay, Handle inode, Stat stat) throws IOException {
    if (stat.isWhiteout()) {
      if (overlay) {
        deleted.add(LinuxError.shown(path));
        write(entry(stat, path, LayerEntry.Kind.CHARACTER_DEVICE, Map.of()));
      } else {
        takeBack(path);
      }
      return;
    }
    Optional<String> first = stat.links() > 1 ? links.first(stat, path) : Optional.empty();
    if (first.isPresent()) {
      write(link(entry(stat, path, LayerEntry.Kind.HARD_LINK, Map.of()), first.get()));
      return;
    }
    Map<String, byte[]> attributes = attributes(inode, false);
    switch (stat.type()) {
      case FILE -> file(inode, path, entry(stat, path, LayerEntry.Kind.FILE, attributes));
      case SYMLINK ->
          write(link(entry(stat, path, LayerEntry.Kind.SYMLINK, attributes), inode.linkTarget()));
      case FIFO -> write(entry(stat, path, LayerEntry.Kind.FIFO, attributes));
      case CHARACTER_DEVICE ->
          write(entry(stat, path, LayerEntry.Kind.CHARACTER_DEVICE, attributes));
      case BLOCK_DEVICE -> write(entry(stat, path, LayerEntry.Kind.BLOCK_DEVICE, attributes));
      case SOCKET -> {
        takeBack(path);
        leaveOut(path, "a socket, which its program creates");
      }
      case FOLDER ->
          throw new IOException(path + ": expected a file, got a folder in the meantime");
    }
  }

  /** Records the deletion of what was packed at a path, if the path is not packed now. */
  private void takeBack(String path) throws IOException {
    if (ahead.knows(path)) {
      write(LayerEntry.deletion(path));
    }
  }

  /** Opens the inode itself: its name may already belong to another one. */
  private void file(Handle inode, String path, LayerEntry entry) throws IOException {
    try (Handle upper = inode.forReading()) {
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
    try (FileChannel data = file.channel(StandardOpenOption.READ)) {
      archive.write(entry, Extents.of(file, entry.size()), data);
      entries++;
    }
  }

  private void write(LayerEntry entry) throws IOException {
    archive.write(entry);
    entries++;
  }

  private void leaveOut(String path, String reason) {
    leftOut.add("%s: %s".formatted(LinuxError.shown(path), reason));
  }

  /** The attributes that are the program's, and the mark of a folder that hides the image's. */
  static Map<String, byte[]> attributes(Handle inode, boolean overlayFolder) throws IOException {
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

  static LayerEntry entry(
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
