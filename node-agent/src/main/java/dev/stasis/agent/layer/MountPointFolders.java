package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;

/**
 * Makes the folders and files on which a source had mounts and the target has nothing at that path:
 * the container toolkit gives one of its mounts a new name in every container, and criu wants the
 * old one to mount on.
 */
public final class MountPointFolders {

  /**
   * Makes missing folders. Links of the image are followed within it and never out of it.
   *
   * @param root the target's root: {@code /proc/HOLDER/root}
   * @param paths absolute paths in the container
   * @throws IOException when one cannot be made; the message names it
   */
  public void makeFolders(Path root, Collection<String> paths) throws IOException {
    make(root, paths, true);
  }

  /** As {@link #makeFolders}, but the last name of each path is an empty file. */
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
        if (e.number() != Libc.EEXIST) {
          throw e;
        }
      }
      parent = parent.equals("/") ? "/" + names[i] : parent + "/" + names[i];
    }
  }
}
