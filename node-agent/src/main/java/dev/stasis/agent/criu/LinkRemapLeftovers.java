package dev.stasis.agent.criu;

import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The extra names ({@code link_remap.N}) that criu creates during a dump for open files without a
 * name. criu removes them when it fails, but not when it is killed, and not after a dump that
 * leaves the tree stopped, because the images need them. The next dump would fail with "File
 * exists".
 *
 * <p>They are therefore packed with their volume, and removed before the workload resumes.
 */
public final class LinkRemapLeftovers {

  private static final System.Logger LOG = System.getLogger(LinkRemapLeftovers.class.getName());

  private static final Pattern NAME = Pattern.compile("link_remap\\.[0-9]+");
  private static final String DELETED = " (deleted)";

  private final ProcFs proc;
  private boolean warned;

  public LinkRemapLeftovers(ProcFs proc) {
    this.proc = proc;
  }

  /**
   * Removes them. A name belongs to criu only if one of these processes still has the file open or
   * mapped; nothing else with such a name is removed. What cannot be read or removed is logged and
   * stays: the workload can have a broken mount, and must resume in spite of it.
   *
   * @param tree the processes that were dumped
   * @return the removed paths, in the container
   */
  public List<String> remove(List<ProcessId> tree) {
    warned = false;
    List<String> removed = new ArrayList<>();
    for (ProcessId process : tree) {
      Set<Object> held = new HashSet<>();
      Set<String> folders = new TreeSet<>();
      attempt(
          () -> {
            for (Path link : nameless(process, folders)) {
              attempt(() -> fileKey(link, held));
            }
          });
      for (String folder : folders) {
        attempt(() -> removeIn(process, folder, held, removed));
      }
    }
    return removed;
  }

  /** A part of the removal. */
  @FunctionalInterface
  private interface Attempt {
    void run() throws IOException;
  }

  /** The workload can cause any number of failures: only the first of a removal is a warning. */
  private void attempt(Attempt part) {
    try {
      part.run();
    } catch (IOException | RuntimeException e) {
      LOG.log(
          warned ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
          "Cannot remove a name that criu created",
          e);
      warned = true;
    }
  }

  /**
   * Returns the links to files without a name, and the folders in which criu may have created a
   * name.
   */
  private Set<Path> nameless(ProcessId process, Set<String> folders) {
    Set<Path> links = new LinkedHashSet<>();
    Path own = proc.folder(process.pid());
    if (!proc.alive(process)) {
      return links;
    }
    for (OpenFile file : proc.openFiles(process.pid())) {
      if (file.target().startsWith("/") && file.isDeleted()) {
        links.add(own.resolve("fd").resolve(Integer.toString(file.fd())));
        addFolders(file.target(), folders);
      }
    }
    for (MemoryMapping mapping : proc.maps(process.pid())) {
      if (mapping.path().startsWith("/") && mapping.path().endsWith(DELETED)) {
        String range = Long.toHexString(mapping.start()) + "-" + Long.toHexString(mapping.end());
        links.add(own.resolve("map_files").resolve(range));
        addFolders(mapping.path(), folders);
      }
    }
    return links;
  }

  /** criu uses the file's own folder, or the nearest parent that still exists. */
  private static void addFolders(String deleted, Set<String> folders) {
    @Nullable Path folder =
        Path.of(deleted.substring(0, deleted.length() - DELETED.length())).getParent();
    while (folder != null) {
      folders.add(folder.toString());
      folder = folder.getParent();
    }
  }

  private static void fileKey(Path link, Set<Object> held) throws IOException {
    Map<String, Object> file;
    try {
      file = Files.readAttributes(link, "unix:dev,ino,nlink");
    } catch (NoSuchFileException e) {
      // A running process has closed it meanwhile.
      return;
    }
    // A file without any name has none to remove.
    if (file.get("nlink") instanceof Integer links && links > 0) {
      held.add(key(file));
    }
  }

  private static Object key(Map<String, Object> attributes) {
    return List.of(String.valueOf(attributes.get("dev")), String.valueOf(attributes.get("ino")));
  }

  private void removeIn(ProcessId process, String folder, Set<Object> held, List<String> removed)
      throws IOException {
    Path root = proc.folder(process.pid()).resolve("root/.");
    try (DirectoryStream<Path> top = Files.newDirectoryStream(root)) {
      // Opened step by step without following links: a link of the container could otherwise point
      // to a host file.
      if (top instanceof SecureDirectoryStream<Path> secure) {
        descend(secure, root, Path.of(folder), 0, held, removed);
      }
    } catch (NoSuchFileException e) {
      // The process has ended.
      return;
    }
  }

  private void descend(
      SecureDirectoryStream<Path> at,
      Path here,
      Path folder,
      int depth,
      Set<Object> held,
      List<String> removed)
      throws IOException {
    if (depth == folder.getNameCount()) {
      for (Path entry : at) {
        Path name = entry.getFileName();
        if (name != null && NAME.matcher(name.toString()).matches()) {
          attempt(
              () -> {
                if (isHeld(here, name, held)) {
                  at.deleteFile(name);
                  removed.add(folder.resolve(name).toString());
                }
              });
        }
      }
      return;
    }
    Path next = folder.getName(depth);
    BasicFileAttributeView view =
        at.getFileAttributeView(next, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    try {
      if (!view.readAttributes().isDirectory()) {
        return;
      }
      try (SecureDirectoryStream<Path> below =
          at.newDirectoryStream(next, LinkOption.NOFOLLOW_LINKS)) {
        descend(below, here.resolve(next), folder, depth + 1, held, removed);
      }
    } catch (NoSuchFileException e) {
      // The folder was deleted with the file; its parent is searched too.
      return;
    }
  }

  private static boolean isHeld(Path folder, Path name, Set<Object> held) throws IOException {
    return held.contains(
        key(Files.readAttributes(folder.resolve(name), "unix:dev,ino", LinkOption.NOFOLLOW_LINKS)));
  }
}
