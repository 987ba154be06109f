package dev.stasis.agent.layer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;

/**
 * Looks at files of a container by their paths there. Links are resolved within the container: an
 * absolute one does not lead into the agent's own root, as it would by way of {@code
 * /proc/PID/root/...}.
 *
 * @param root {@code /proc/PID/root}
 */
public record ContainerPaths(Path root) {

  /** A file's length in bytes and when it was changed last. */
  public record File(long size, Instant modified) {}

  /** Returns the facts of a file; the last name of the path is not followed. */
  public File file(String path) throws IOException {
    try (Handle container = Handle.ofTrusted(root);
        Handle file = container.inRoot(MountTargets.bytes(path))) {
      Stat stat = file.stat();
      return new File(stat.size(), Instant.ofEpochSecond(stat.seconds(), stat.nanos()));
    }
  }

  /** Returns whether there is a folder at that path, which is not a link. */
  public boolean isFolder(String path) {
    try (Handle container = Handle.ofTrusted(root);
        Handle folder = container.inRoot(MountTargets.bytes(path))) {
      return folder.stat().type() == Stat.Type.FOLDER;
    } catch (IOException e) {
      return false;
    }
  }
}
