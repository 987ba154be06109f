package dev.stasis.artifact;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The files and folders of an artifact; it must contain nothing else. */
record FolderScan(List<Path> folders, List<Path> files) {

  /** A path that is neither a file nor a folder. */
  static final class ForeignEntry extends IOException {
    private static final long serialVersionUID = 1L;

    ForeignEntry(Path root, Path path, BasicFileAttributes attributes) {
      super(
          "%s: expected a file or a folder, got %s"
              .formatted(
                  root.relativize(path),
                  attributes.isSymbolicLink() ? "a symbolic link" : "a special file"));
    }
  }

  /** The root itself is the first folder; parents come before their children. */
  static FolderScan of(Path root) throws IOException {
    List<Path> folders = new ArrayList<>();
    List<Path> files = new ArrayList<>();
    for (Path path : everything(root)) {
      BasicFileAttributes attributes =
          Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (attributes.isDirectory()) {
        folders.add(path);
      } else if (attributes.isRegularFile()) {
        files.add(path);
      } else {
        throw new ForeignEntry(root, path, attributes);
      }
    }
    return new FolderScan(folders, files);
  }

  /** Removes all permissions of group and others, whatever mode a file was created with. */
  void keepToRoot() throws IOException {
    for (Path folder : folders) {
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    }
    for (Path file : files) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }
  }

  /** Every path at and below the root, in order, without following links. */
  static List<Path> everything(Path root) throws IOException {
    try (Stream<Path> paths = Files.walk(root)) {
      return paths.sorted().toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
