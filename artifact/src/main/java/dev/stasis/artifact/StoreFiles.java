package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The few changes to a file system whose order decides what a crash leaves behind. */
interface StoreFiles {
  /** Makes a folder that only root can enter. Fails when something has that name. */
  void createFolder(Path folder) throws IOException;

  /** Makes a file that only root can read. Fails when something has that name. Not yet durable. */
  void write(Path file, byte[] bytes) throws IOException;

  /** Makes a file or a folder's entries durable. */
  void sync(Path fileOrFolder) throws IOException;

  /** Makes the entries of a folder and of all below it durable, the innermost first. */
  default void syncFolders(Path root) throws IOException {
    List<Path> folders = FolderScan.of(root).folders();
    for (int i = folders.size() - 1; i >= 0; i--) {
      sync(folders.get(i));
    }
  }

  /** Renames a folder; never onto something that is there, but an empty folder. */
  void rename(Path from, Path to) throws IOException;

  /** Deletes a file or a folder with all below it; nothing there is fine. Follows no link. */
  void delete(Path fileOrFolder) throws IOException;
}
