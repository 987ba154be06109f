package dev.stasis.store;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Collects the regular files of a folder as blobs; what has no valid name is no blob. */
final class FolderListing extends SimpleFileVisitor<Path> {
  private final Path root;
  private final List<Blob> blobs = new ArrayList<>();

  /**
   * @param root keys are relative to it
   */
  FolderListing(Path root) {
    this.root = root;
  }

  /** Returns the blobs that were found, by key. */
  List<Blob> blobs() {
    return blobs.stream().sorted(Comparator.comparing(Blob::key)).toList();
  }

  /** Returns a file as a blob. */
  Blob blob(Path file) throws IOException {
    return blob(
        file, Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS));
  }

  private Blob blob(Path file, BasicFileAttributes attributes) throws IOException {
    if (!attributes.isRegularFile()) {
      throw new StoreException.Refused(file + ": expected a file, got a link or a folder", null);
    }
    return new Blob(
        root.relativize(file).toString(),
        attributes.size(),
        attributes.lastModifiedTime().toInstant());
  }

  @Override
  public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
    return folder.equals(root) || ArtifactId.isValid(String.valueOf(folder.getFileName()))
        ? FileVisitResult.CONTINUE
        : FileVisitResult.SKIP_SUBTREE;
  }

  @Override
  public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
    if (attributes.isRegularFile() && ArtifactId.isValid(String.valueOf(file.getFileName()))) {
      blobs.add(blob(file, attributes));
    }
    return FileVisitResult.CONTINUE;
  }

  /** Another agent may have deleted it meanwhile. */
  @Override
  public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
    if (failure instanceof NoSuchFileException) {
      return FileVisitResult.CONTINUE;
    }
    throw failure;
  }
}
