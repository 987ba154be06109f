package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Finds the paths of inodes in a container. Paths are bytes in ISO-8859-1, starting at the
 * container's root; an inode is {@code MAJOR:MINOR:NUMBER}. The container may change during the
 * search.
 */
public final class InodeFinder {

  /** An image with PyTorch has about 100,000 files; a million take about ten seconds. */
  private static final int MOST_FILES = 1_000_000;

  /** Each level keeps a descriptor open. */
  private static final int DEEPEST = 256;

  private final Path root;

  /**
   * @param root {@code /proc/PID/root}
   */
  public InodeFinder(Path root) {
    this.root = root;
  }

  private record Level(Handle folder, Listing names, String path) {}

  public boolean isAt(String path, String inode) {
    try (Handle container = Handle.ofTrusted(root);
        Handle found = container.inRoot(path)) {
      return found.stat().inode().equals(inode);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Searches one mount, without other mounts below it.
   *
   * @param mountPoint its path in the mount table
   * @return a path for each inode that was found
   */
  public Map<String, String> find(String mountPoint, Set<String> inodes) {
    Map<String, String> found = new HashMap<>();
    Set<String> missing = new HashSet<>(inodes);
    Deque<Level> levels = new ArrayDeque<>();
    try (Handle container = Handle.ofTrusted(root)) {
      String top = MountTargets.bytes(mountPoint);
      Handle folder = container.folderInRoot(top);
      levels.push(new Level(folder, new Listing(folder), top.equals("/") ? "" : top));
      note(folder, top, missing, found);
      for (int files = 0; files < MOST_FILES && !missing.isEmpty() && !levels.isEmpty(); files++) {
        Level level = levels.getFirst();
        String name = level.names().next();
        if (name == null) {
          levels.pop().folder().close();
        } else {
          visit(level, name, levels, missing, found);
        }
      }
    } catch (IOException e) {
      // A folder that cannot be searched counts as without a match.
      return found;
    } finally {
      levels.forEach(level -> level.folder().close());
    }
    return found;
  }

  private static void visit(
      Level parent,
      String name,
      Deque<Level> levels,
      Set<String> missing,
      Map<String, String> found) {
    String path = parent.path() + "/" + name;
    if (path.length() >= TreePacker.LONGEST_PATH) {
      return;
    }
    try (Handle inode = parent.folder().at(name)) {
      note(inode, path, missing, found);
      if (inode.stat().type() == Stat.Type.FOLDER && levels.size() < DEEPEST) {
        Handle folder = parent.folder().folder(name);
        levels.push(new Level(folder, new Listing(folder), path));
      }
    } catch (IOException e) {
      // Another mount, or gone by now.
    }
  }

  private static void note(
      Handle inode, String path, Set<String> missing, Map<String, String> found)
      throws IOException {
    String identity = inode.stat().inode();
    if (missing.remove(identity)) {
      found.put(identity, path);
    }
  }
}
