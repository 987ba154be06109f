package dev.stasis.agent.engine;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/**
 * The folder for staged device memory. It is usually in {@code /dev/shm}, where every user of the
 * node (a pod with hostIPC) can create a folder with that name first, and read or exchange what the
 * agent writes there. Such a folder is not used.
 *
 * @param configured the usual folder
 * @param otherwise a folder in a place that only root can write to, if the usual one is not trusted
 */
public record MemoryStage(Path configured, Path otherwise) {
  private static final int OTHERS_WRITE = 0022;

  /** Returns the first of the two folders that belongs to root alone; creates it with mode 0700. */
  public Path trusted() throws IOException {
    try {
      return own(configured);
    } catch (IOException e) {
      System.getLogger(MemoryStage.class.getName())
          .log(
              System.Logger.Level.ERROR,
              "Memory stage {0} cannot be used, using {1} instead: {2}",
              configured,
              otherwise,
              e.getMessage());
      return own(otherwise);
    }
  }

  private static Path own(Path folder) throws IOException {
    Path parent = folder.getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    try {
      return Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      requireOfRoot(folder);
    }
    // The kubelet creates it with 0755. It belongs to root, so its name still means the same
    // folder.
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    return folder;
  }

  private static void requireOfRoot(Path folder) throws IOException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(folder + ": expected a folder, got a link or a file");
    }
    Map<String, Object> found =
        Files.readAttributes(folder, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
    if (!Integer.valueOf(0).equals(found.get("uid"))) {
      throw new IOException(
          folder + ": expected a folder of root, got one of uid " + found.get("uid"));
    }
    if (!(found.get("mode") instanceof Integer mode) || (mode & OTHERS_WRITE) != 0) {
      throw new IOException(
          folder + ": expected a folder that only root can write to, got one with other writers");
    }
  }
}
