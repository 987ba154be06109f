package dev.stasis.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** The folders below the root of a store, which other nodes change, too. */
final class SharedFolders {

  private static final FileAttribute<?> MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path root;

  SharedFolders(Path root) {
    this.root = root;
  }

  static Path folderOf(Path file) {
    Path folder = file.getParent();
    if (folder == null) {
      throw new IllegalArgumentException("expected a file below the root, got " + file);
    }
    return folder;
  }

  /** Creates a folder, and those that it is in, unless they exist. */
  void create(Path folder) throws IOException {
    if (!folder.equals(root) && !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      create(folderOf(folder));
      try {
        Files.createDirectory(folder, MODE);
        sync(folderOf(folder));
      } catch (FileAlreadyExistsException e) {
        // Another writer made it, or it is a link, which the next line refuses.
      }
    }
    requireNoLinks(folder);
  }

  void requireNoLinks(Path folder) throws IOException {
    for (Path at = folder; !at.equals(root); at = folderOf(at)) {
      BasicFileAttributes attributes =
          Files.readAttributes(at, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!attributes.isDirectory()) {
        throw new StoreException.Refused(
            "%s: expected a folder, got a link or a file".formatted(at), null);
      }
    }
  }

  /**
   * Opens each folder from the root on. NFS clients remember for up to a minute which files a
   * folder has, and which it does not have; opening it makes them ask the server whether it has
   * changed.
   *
   * @throws NoSuchFileException if it does not exist
   */
  void refresh(Path folder) throws IOException {
    if (!folder.equals(root)) {
      refresh(folderOf(folder));
    }
    FileChannel.open(folder, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)).close();
  }

  boolean exists(Path folder) throws IOException {
    try {
      refresh(folder);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  static void sync(Path folder) throws IOException {
    try (FileChannel channel =
        FileChannel.open(folder, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      channel.force(true);
    }
  }
}
