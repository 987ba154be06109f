package dev.stasis.artifact;

import java.io.IOException;
import java.nio.file.Path;

/** The few changes to a file system whose order decides what a crash leaves behind. */
interface StoreFiles {
  /** Makes a folder that only root can enter. Fails when something has that name. */
  void createFolder(Path folder) throws IOException;

  /** Makes a file that only root can read. Fails when something has that name. Not yet durable. */
  void write(Path file, byte[] bytes) throws IOException;

  /** Makes a file or a folder's entries durable. */
  void sync(Path fileOrFolder) throws IOException;

  /** Renames a folder; never onto something that is there, but an empty folder. */
  void rename(Path from, Path to) throws IOException;

  /** Deletes a file or a folder with all below it; nothing there is fine. Follows no link. */
  void delete(Path fileOrFolder) throws IOException;
}
