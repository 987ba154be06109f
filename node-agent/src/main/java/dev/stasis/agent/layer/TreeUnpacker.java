package dev.stasis.agent.layer;

import dev.stasis.agent.process.LibC;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Unpacks one archive into one folder. */
final class TreeUnpacker {
  /** Each deleted level uses part of the stack; a new target has few of them. */
  private static final int DEEPEST = 500;

  private final Handle root;
  private final HookFiles hooks;
  private final Set<String> mounted;
  private final boolean mayBeReadOnly;
  private final Deque<Folder> folders = new ArrayDeque<>();
  private final Remarks leftAlone = new Remarks();

  /** Folders with other mounts that were kept and that the archive has not named yet, by inode. */
  private final Map<String, String> unnamed = new LinkedHashMap<>();

  /**
   * For a folder.
   *
   * @param mounted inodes that are also mounted elsewhere: such a folder is emptied and filled,
   *     never recreated, so that the mount keeps showing the same files
   * @param mayBeReadOnly whether it may be a read-only root file system: only the runtime can have
   *     created files there, and the target's has done so too
   */
  TreeUnpacker(Handle root, HookFiles hooks, Set<String> mounted, boolean mayBeReadOnly) {
    this.mayBeReadOnly = mayBeReadOnly;
    this.mounted = Set.copyOf(mounted);
    this.root = root;
    this.hooks = hooks;
  }

  /** A folder whose children are being created, which changes its time. */
  private record Folder(String path, long seconds, int nanos) {
    boolean holds(String other) {
      return path.equals(".") ? !other.equals(".") : other.startsWith(path + "/");
    }
  }

  /** Returns the number of applied entries. */
  long unpack(PaxReader archive) throws IOException {
    long count = 0;
    for (Optional<LayerEntry> next = archive.next(); next.isPresent(); next = archive.next()) {
      LayerEntry entry = next.get();
      try {
        finishFolders(entry.path());
        count += apply(entry, archive) ? 1 : 0;
      } catch (LinuxError e) {
        if (mayBeReadOnly && e.number() == LibC.EROFS && isMountPoint(entry)) {
          leave(entry.path(), "the root file system is read-only");
          continue;
        }
        throw new IOException(
            "%s: %s".formatted(LinuxError.shown(entry.path()), e.getMessage()), e);
      }
    }
    while (!folders.isEmpty()) {
      finish(folders.pop());
    }
    for (String path : unnamed.values()) {
      throw new IOException(
          "%s: mounted by a subPath in the target: expected a folder in the checkpoint, got none"
              .formatted(LinuxError.shown(path)));
    }
    return count;
  }

  /** An archive has the content of a folder directly after it. */
  private void finishFolders(String next) throws IOException {
    while (!folders.isEmpty() && !folders.getFirst().holds(next)) {
      finish(folders.pop());
    }
  }

  private void finish(Folder folder) throws IOException {
    try (Handle inode = root.at(folder.path())) {
      inode.setModified(folder.seconds(), folder.nanos());
    }
  }

  private void begin(LayerEntry folder) {
    folders.push(new Folder(folder.path(), folder.seconds(), folder.nanos()));
  }

  List<String> leftAlone() {
    return leftAlone.all();
  }

  private boolean apply(LayerEntry entry, PaxReader archive) throws IOException {
    String link = entry.kind() == LayerEntry.Kind.SYMLINK ? entry.link() : null;
    Optional<String> foreign = hooks.foreign(entry.path(), link);
    if (foreign.isPresent()) {
      return leave(entry.path(), foreign.get());
    }
    if (entry.path().equals(".")) {
      return rootFolder(entry);
    }
    try (Handle parent = root.at(entry.parent())) {
      if (entry.isDeletion()) {
        return delete(parent, entry.name(), entry.path());
      }
      if (entry.kind() == LayerEntry.Kind.FOLDER) {
        return folder(parent, entry);
      }
      if (!delete(parent, entry.name(), entry.path())) {
        return false;
      }
      create(parent, entry, archive);
      return true;
    } catch (LinuxError e) {
      if (e.number() == LibC.EXDEV) {
        return leave(entry.path(), "below a mount point");
      }
      throw e;
    }
  }

  private boolean rootFolder(LayerEntry entry) throws IOException {
    if (entry.kind() != LayerEntry.Kind.FOLDER) {
      throw new IOException("layer archive: .: expected a folder, got " + entry.kind());
    }
    if (entry.isOpaque()) {
      empty(root, "");
    }
    metadata(root, entry);
    begin(entry);
    return true;
  }

  private boolean folder(Handle parent, LayerEntry entry) throws IOException {
    String name = entry.name();
    boolean there = false;
    try (Handle old = parent.at(name)) {
      Stat stat = old.stat();
      there = stat.type() == Stat.Type.FOLDER;
      if (there) {
        unnamed.remove(stat.inode());
      }
    } catch (LinuxError e) {
      if (e.number() == LibC.EXDEV) {
        return leave(entry.path(), "a mount point");
      }
      if (e.number() != LibC.ENOENT) {
        throw e;
      }
    }
    if (!there) {
      if (!delete(parent, name, entry.path())) {
        return false;
      }
      parent.createFolder(name);
    } else if (entry.isOpaque()) {
      try (Handle old = parent.folder(name)) {
        empty(old, entry.path() + "/");
      }
    }
    try (Handle made = parent.at(name)) {
      removeOthers(made, entry);
      metadata(made, entry);
    }
    begin(entry);
    return true;
  }

  /** A folder may have old attributes, and a default ACL of the parent gives a new inode an ACL. */
  private static void removeOthers(Handle inode, LayerEntry entry) throws IOException {
    for (String old : inode.attributes().keySet()) {
      if (LayerEntry.isPrograms(old) && !entry.attributes().containsKey(old)) {
        inode.removeAttribute(old);
      }
    }
  }

  private void create(Handle parent, LayerEntry entry, PaxReader archive) throws IOException {
    String name = entry.name();
    switch (entry.kind()) {
      case FILE -> {
        try (Handle made = parent.createFile(name);
            FileChannel file = made.channel(StandardOpenOption.WRITE)) {
          archive.copyTo(entry, file);
          made.setSize(entry.size());
        }
      }
      case HARD_LINK -> {
        try (Handle first = root.at(entry.link())) {
          parent.createLink(name, first);
        }
        return;
      }
      case SYMLINK -> parent.createSymlink(name, entry.link());
      case FIFO -> parent.createSpecial(name, Stat.Type.FIFO, 0, 0);
      case CHARACTER_DEVICE ->
          parent.createSpecial(name, Stat.Type.CHARACTER_DEVICE, entry.major(), entry.minor());
      case BLOCK_DEVICE ->
          parent.createSpecial(name, Stat.Type.BLOCK_DEVICE, entry.major(), entry.minor());
      case FOLDER -> throw new IllegalStateException("folders are created separately");
    }
    try (Handle made = parent.at(name)) {
      if (entry.kind() != LayerEntry.Kind.SYMLINK) {
        removeOthers(made, entry);
      }
      metadata(made, entry);
      made.setModified(entry.seconds(), entry.nanos());
    }
  }

  /**
   * The owner before the mode, because a change of owner clears mode bits, and both before the
   * attributes.
   */
  private static void metadata(Handle inode, LayerEntry entry) throws IOException {
    inode.setOwner(entry.uid(), entry.gid());
    if (entry.kind() != LayerEntry.Kind.SYMLINK) {
      inode.setMode(entry.mode());
    }
    for (Map.Entry<String, byte[]> attribute : entry.attributes().entrySet()) {
      if (LayerEntry.isPrograms(attribute.getKey())) {
        inode.setAttribute(attribute.getKey(), attribute.getValue());
      }
    }
  }

  /**
   * Deletes a name with everything below it, except mount points: unlinking one from outside the
   * container would remove the mount. A folder that is mounted elsewhere is only emptied. Returns
   * false if anything had to stay.
   */
  private boolean delete(Handle parent, String name, String path) throws IOException {
    boolean folder;
    boolean keep;
    try (Handle old = parent.at(name)) {
      Stat stat = old.stat();
      keep = mounted.contains(stat.inode());
      if (keep) {
        unnamed.put(stat.inode(), path);
      }
      folder = stat.type() == Stat.Type.FOLDER;
      String link = stat.type() == Stat.Type.SYMLINK ? old.linkTarget() : null;
      Optional<String> foreign = hooks.foreign(path, link);
      if (foreign.isPresent()) {
        return leave(path, foreign.get());
      }
    } catch (LinuxError e) {
      if (e.number() == LibC.EXDEV) {
        return leave(path, "a mount point");
      }
      if (e.number() == LibC.ENOENT) {
        return true;
      }
      throw e;
    }
    if (folder) {
      if (path.chars().filter(c -> c == '/').count() > DEEPEST) {
        throw new IOException(
            "%s...: expected folders nested at most %d levels deep in the target, got deeper ones"
                .formatted(LinuxError.shown(path.substring(0, 80)), DEEPEST));
      }
      try (Handle old = parent.folder(name)) {
        if (!empty(old, path + "/")) {
          return false;
        }
      }
    }
    if (keep) {
      return false;
    }
    parent.unlink(name, folder);
    return true;
  }

  /** Deletes all children. A listing that changes during the deletion is not relied on. */
  private boolean empty(Handle folder, String prefix) throws IOException {
    boolean empty;
    boolean progress;
    do {
      empty = true;
      progress = false;
      folder.rewind();
      Listing names = new Listing(folder);
      for (String child = names.next(); child != null; child = names.next()) {
        boolean deleted = delete(folder, child, prefix + child);
        progress |= deleted;
        empty &= deleted;
      }
    } while (progress);
    return empty;
  }

  /** A runtime creates folders and empty files as mount points. */
  private static boolean isMountPoint(LayerEntry entry) {
    return !entry.isDeletion()
        && (entry.kind() == LayerEntry.Kind.FOLDER
            || (entry.kind() == LayerEntry.Kind.FILE && entry.size() == 0));
  }

  private boolean leave(String path, String reason) {
    leftAlone.add("%s: %s".formatted(LinuxError.shown(path), reason));
    return false;
  }
}
