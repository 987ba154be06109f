package dev.stasis.agent.layer;

import dev.stasis.agent.process.LibC;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;

/**
 * Creates the folders and files on which the source had mounts and that are missing in the target.
 * The container toolkit gives one of its mounts a new name in every container, and criu needs the
 * old one as a mount point.
 */
public final class MountPointFolders {

  /**
   * Creates missing folders. Links of the image are followed within it and never out of it.
   *
   * @param root the target's root: {@code /proc/HOLDER/root}
   * @param paths absolute paths in the container
   * @throws IOException if one cannot be created; the message names it
   */
  public void makeFolders(Path root, Collection<String> paths) throws IOException {
    make(root, paths, true);
  }

  /** Same as {@link #makeFolders}, but the last name of each path is an empty file. */
  public void makeFiles(Path root, Collection<String> paths) throws IOException {
    make(root, paths, false);
  }

  private static void make(Path root, Collection<String> paths, boolean folder) throws IOException {
    try (Handle container = Handle.ofTrusted(root)) {
      for (String path : paths) {
        try {
          make(container, MountTargets.bytes(path), folder);
        } catch (IOException e) {
          throw new IOException("mount point " + path + ": " + e.getMessage(), e);
        }
      }
    }
  }

  private static void make(Handle container, String path, boolean folder) throws IOException {
    String parent = "/";
    String[] names = path.replaceFirst("^/+", "").split("/+");
    for (int i = 0; i < names.length; i++) {
      try (Handle above = container.folderInRoot(parent)) {
        if (folder || i < names.length - 1) {
          above.createFolder(names[i]);
        } else {
          above.createFile(names[i]).close();
        }
      } catch (LinuxError e) {
        if (e.number() != LibC.EEXIST) {
          throw e;
        }
      }
      parent = parent.equals("/") ? "/" + names[i] : parent + "/" + names[i];
    }
  }
}
