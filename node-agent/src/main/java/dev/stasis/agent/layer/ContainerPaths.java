package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;

/**
 * Reads files of a container by their paths inside it. Links are resolved within the container: an
 * absolute link does not lead into the agent's own root, as it would with {@code
 * /proc/PID/root/...}.
 *
 * @param root {@code /proc/PID/root}
 */
public record ContainerPaths(Path root) {

  /** A file's length in bytes and the time of its last change. */
  public record File(long size, Instant modified) {}

  /** Returns the facts of a file; the last name of the path is not followed. */
  public File file(String path) throws IOException {
    try (Handle container = Handle.ofTrusted(root);
        Handle file = container.inRoot(MountTargets.bytes(path))) {
      Stat stat = file.stat();
      return new File(stat.size(), Instant.ofEpochSecond(stat.seconds(), stat.nanos()));
    }
  }

  /** Returns whether the path is a folder and not a link. */
  public boolean isFolder(String path) {
    try (Handle container = Handle.ofTrusted(root);
        Handle folder = container.inRoot(MountTargets.bytes(path))) {
      return folder.stat().type() == Stat.Type.FOLDER;
    } catch (IOException e) {
      return false;
    }
  }
}
