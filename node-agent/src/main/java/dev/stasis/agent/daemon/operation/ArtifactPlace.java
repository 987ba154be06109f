package dev.stasis.agent.daemon.operation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Where an artifact lies or will lie.
 *
 * @param folder the folder of its namespace in the store
 * @param name its own folder in that
 * @param nodeLocal whether other nodes do not reach it
 */
record ArtifactPlace(Path folder, String name, boolean nodeLocal) {

  Path path() {
    return folder.resolve(name);
  }

  /** Makes the namespace's folder, for root alone. */
  void makeFolder() throws IOException {
    Path root = folder.getParent();
    if (root == null || !Files.isDirectory(root)) {
      throw new IOException("root of the store " + root + ": wanted a folder");
    }
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }
}
