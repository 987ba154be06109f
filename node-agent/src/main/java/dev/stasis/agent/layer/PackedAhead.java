package dev.stasis.agent.layer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Remembers the folders and files of one tree that were packed while the workload ran, to tell
 * which of them are still the same once it is stopped.
 */
final class PackedAhead {

  /** Takes some 10 MiB of memory. Further files are packed while the workload is frozen. */
  static final int MOST = 50_000;

  private final Map<String, Entry> entries = new HashMap<>();
  private Set<String> written = Set.of();

  /** How a folder of the stopped tree compares with what was packed. */
  enum Found {
    /** Packed: what is in it may be the same. */
    SAME,
    /** Another folder, or one that hides the image's by now, is at a path that was packed. */
    REPLACED,
    /** Not packed. */
    NEW
  }

  private static final class Entry {
    private final String inode;
    private final long seconds;
    private final int nanos;
    private final long size;
    private final boolean folder;
    private final boolean opaque;
    private boolean seen;
    private boolean same;

    private Entry(Stat stat, boolean folder, boolean opaque) {
      this.inode = stat.inode();
      this.seconds = stat.changedSeconds();
      this.nanos = stat.changedNanos();
      this.size = stat.size();
      this.folder = folder;
      this.opaque = opaque;
    }
  }

  boolean isFull() {
    return entries.size() >= MOST;
  }

  int size() {
    return entries.size();
  }

  /** Whether anything at this path was packed. */
  boolean knows(String path) {
    return entries.containsKey(path);
  }

  void addFolder(String path, Stat stat, boolean opaque) {
    entries.put(path, new Entry(stat, true, opaque));
  }

  void addFile(String path, Stat stat) {
    entries.put(path, new Entry(stat, false, false));
  }

  /** Files of these names may have been written to without a trace. */
  void mayBeWritten(Set<String> names) {
    written = Set.copyOf(names);
  }

  /** Looks up a folder of the stopped tree. */
  Found folder(String path, Stat stat, boolean opaque) {
    Entry entry = entries.get(path);
    if (entry == null) {
      return Found.NEW;
    }
    entry.seen = true;
    entry.same = entry.folder && entry.inode.equals(stat.inode()) && entry.opaque == opaque;
    return entry.same ? Found.SAME : Found.REPLACED;
  }

  /** Whether a file of the stopped tree is packed as it is; also asked of links and devices. */
  boolean holds(String path, Stat stat) {
    Entry entry = entries.get(path);
    if (entry == null) {
      return false;
    }
    entry.seen = true;
    return !entry.folder
        && stat.links() == 1
        && !written.contains(path.substring(path.lastIndexOf('/') + 1))
        && entry.inode.equals(stat.inode())
        && entry.size == stat.size()
        && entry.seconds == stat.changedSeconds()
        && entry.nanos == stat.changedNanos();
  }

  /** Paths that were packed and no longer exist, by their folder, which is unchanged. */
  SortedMap<String, List<String>> vanished() {
    SortedMap<String, List<String>> vanished = new TreeMap<>();
    entries.forEach(
        (path, entry) -> {
          String parent = path.contains("/") ? path.substring(0, path.lastIndexOf('/')) : ".";
          Entry folder = entries.get(parent);
          if (!entry.seen && folder != null && folder.same) {
            vanished.computeIfAbsent(parent, any -> new ArrayList<>()).add(path);
          }
        });
    return vanished;
  }
}
