package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;

/**
 * Makes folders where a source had mounts and the target has none at that path: the container
 * toolkit gives one of its mounts a new name in every container, and criu wants the old one to
 * mount on.
 */
public final class MountPointFolders {

  /**
   * Makes what is missing, through no link and on no mount.
   *
   * @param root the target's root: {@code /proc/HOLDER/root}
   * @param paths absolute paths in the container
   * @throws IOException when one cannot be made; the message names it
   */
  public void make(Path root, Collection<String> paths) throws IOException {
    try (Handle container = Handle.ofTrusted(root)) {
      for (String path : paths) {
        make(container, MountTargets.bytes(path));
      }
    }
  }

  private static void make(Handle container, String path) throws IOException {
    StringBuilder made = new StringBuilder();
    String parent = ".";
    for (String name : path.split("/")) {
      if (name.isEmpty()) {
        continue;
      }
      made.append(made.isEmpty() ? "" : "/").append(name);
      try (Handle above = container.folder(parent)) {
        above.createFolder(name);
      } catch (LinuxError e) {
        if (e.number() != Libc.EEXIST) {
          throw new IOException("mount point " + path + ": " + e.getMessage(), e);
        }
      }
      parent = made.toString();
    }
  }
}
