package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Unpacks one archive into one folder. */
final class TreeUnpacker {
  /** Each level of what is deleted takes its part of the stack; a fresh target has few of them. */
  private static final int DEEPEST = 500;

  private final Handle root;
  private final HookFiles hooks;
  private final boolean mayBeReadOnly;
  private final Deque<Folder> folders = new ArrayDeque<>();
  private final Remarks leftAlone = new Remarks();

  /**
   * Into a folder.
   *
   * @param mayBeReadOnly whether it may be a read-only root file system: then the runtime alone
   *     could make something there, and the target's has done so too
   */
  TreeUnpacker(Handle root, HookFiles hooks, boolean mayBeReadOnly) {
    this.mayBeReadOnly = mayBeReadOnly;
    this.root = root;
    this.hooks = hooks;
  }

  /** A folder whose children are being made, which changes its time. */
  private record Folder(String path, long seconds, int nanos) {
    boolean holds(String other) {
      return path.equals(".") ? !other.equals(".") : other.startsWith(path + "/");
    }
  }

  /** How many entries were applied. */
  long unpack(PaxReader archive) throws IOException {
    long count = 0;
    for (Optional<LayerEntry> next = archive.next(); next.isPresent(); next = archive.next()) {
      LayerEntry entry = next.get();
      try {
        finishFolders(entry.path());
        count += apply(entry, archive) ? 1 : 0;
      } catch (LinuxError e) {
        if (mayBeReadOnly && e.number() == Libc.EROFS && isMountPoint(entry)) {
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
    return count;
  }

  /** An archive has all that lies in a folder right behind it. */
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
      if (e.number() == Libc.EXDEV) {
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
      there = old.stat().type() == Stat.Type.FOLDER;
    } catch (LinuxError e) {
      if (e.number() == Libc.EXDEV) {
        return leave(entry.path(), "a mount point");
      }
      if (e.number() != Libc.ENOENT) {
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
      for (String old : made.attributes().keySet()) {
        if (LayerEntry.isPrograms(old) && !entry.attributes().containsKey(old)) {
          made.removeAttribute(old);
        }
      }
      metadata(made, entry);
    }
    begin(entry);
    return true;
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
      case FOLDER -> throw new IllegalStateException("folders are made elsewhere");
    }
    try (Handle made = parent.at(name)) {
      metadata(made, entry);
      made.setModified(entry.seconds(), entry.nanos());
    }
  }

  /** The owner before the mode, which a change of owner cuts, and both before the attributes. */
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
   * Deletes a name with all below it, but no mount point: from outside the container that would
   * take the mount away from under it. False when something had to stay.
   */
  private boolean delete(Handle parent, String name, String path) throws IOException {
    boolean folder;
    try (Handle old = parent.at(name)) {
      Stat stat = old.stat();
      folder = stat.type() == Stat.Type.FOLDER;
      String link = stat.type() == Stat.Type.SYMLINK ? old.linkTarget() : null;
      Optional<String> foreign = hooks.foreign(path, link);
      if (foreign.isPresent()) {
        return leave(path, foreign.get());
      }
    } catch (LinuxError e) {
      if (e.number() == Libc.EXDEV) {
        return leave(path, "a mount point");
      }
      if (e.number() == Libc.ENOENT) {
        return true;
      }
      throw e;
    }
    if (folder) {
      if (path.chars().filter(c -> c == '/').count() > DEEPEST) {
        throw new IOException(
            "%s...: expected folders of the target to be nested at most %d deep, got deeper ones"
                .formatted(LinuxError.shown(path.substring(0, 80)), DEEPEST));
      }
      try (Handle old = parent.folder(name)) {
        if (!empty(old, path + "/")) {
          return false;
        }
      }
    }
    parent.unlink(name, folder);
    return true;
  }

  /** Deletes all children. What a file system lists while they are deleted is not relied on. */
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

  /** A runtime makes folders and empty files, on which it mounts. */
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
