package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The file system operations whose order determines the state after a crash. */
interface StoreFiles {
  /** Creates a folder that only root can access. Fails if the name exists. */
  void createFolder(Path folder) throws IOException;

  /** Creates a file that only root can read. Fails if the name exists. Not durable yet. */
  void write(Path file, byte[] bytes) throws IOException;

  /** Makes a file, or the entries of a folder, durable. */
  void sync(Path fileOrFolder) throws IOException;

  /** Makes the entries of a folder and of all folders below it durable, the innermost first. */
  default void syncFolders(Path root) throws IOException {
    List<Path> folders = FolderScan.of(root).folders();
    for (int i = folders.size() - 1; i >= 0; i--) {
      sync(folders.get(i));
    }
  }

  /** Renames a folder; replaces nothing except an empty folder. */
  void rename(Path from, Path to) throws IOException;

  /**
   * Deletes a file, or a folder with its content; succeeds if the path does not exist. Follows no
   * link.
   */
  void delete(Path fileOrFolder) throws IOException;
}
