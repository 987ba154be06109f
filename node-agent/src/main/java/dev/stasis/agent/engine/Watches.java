package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.layer.InodeFinder;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcLimitException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the files that a workload watches by inotify, and their paths. */
final class Watches {

  /** The device in the kernel's format: the minor number in the low 20 bits. */
  private static final Pattern WATCH =
      Pattern.compile("(?m)^inotify wd:\\S+ ino:([0-9a-f]+) sdev:([0-9a-f]+)");

  /** What the link of such a descriptor says. */
  static final String TARGET = "anon_inode:inotify";

  private static final int MINOR_BITS = 20;

  /** Of all processes of a container. */
  private static final int MOST = 100_000;

  private final ProcFs proc;

  Watches(ProcFs proc) {
    this.proc = proc;
  }

  /**
   * Adds the watched inodes of a process, as {@code MAJOR:MINOR:INODE}.
   *
   * @throws ProcLimitException if there are too many
   */
  void add(int pid, List<OpenFile> files, Set<String> watches) {
    for (OpenFile file : files) {
      if (file.target().equals(TARGET)) {
        Matcher watch = WATCH.matcher(proc.fileInfo(pid, file.fd()));
        while (watch.find()) {
          long device = Long.parseLong(watch.group(2), 16);
          watches.add(
              (device >> MINOR_BITS)
                  + ":"
                  + (device & ((1 << MINOR_BITS) - 1))
                  + ":"
                  + Long.parseUnsignedLong(watch.group(1), 16));
          if (watches.size() > MOST) {
            throw new ProcLimitException(
                "inotify watches up to process " + pid, "at most " + MOST + " inodes");
          }
        }
      }
    }
  }

  /**
   * Finds the paths of watched files in the container's own file system and in the packed volumes.
   * criu itself finds those on other volumes.
   *
   * @param known paths that were found before
   */
  Map<String, String> paths(
      Container container, Set<String> volumes, Set<String> watches, Map<String, String> known) {
    InodeFinder finder = new InodeFinder(proc.folder(container.root().pid()).resolve("root"));
    Map<String, String> paths = new HashMap<>();
    known.forEach(
        (inode, path) -> {
          if (watches.contains(inode) && finder.isAt(path, inode)) {
            paths.put(inode, path);
          }
        });
    for (Mount mount : container.mounts()) {
      if (mount.type().equals("overlay") || volumes.contains(mount.mountPoint())) {
        Set<String> wanted = new HashSet<>(watches);
        wanted.removeIf(
            inode ->
                paths.containsKey(inode)
                    || !inode.startsWith(mount.major() + ":" + mount.minor() + ":"));
        if (!wanted.isEmpty()) {
          paths.putAll(finder.find(mount.mountPoint(), wanted));
        }
      }
    }
    return paths;
  }
}
