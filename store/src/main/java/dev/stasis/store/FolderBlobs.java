package dev.stasis.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Blobs as files of a folder: a file server's, a mounted claim, or a local one. A blob is written
 * under a temporary name, synced, and then renamed. Symbolic links in the folder are refused: other
 * writers of a shared folder must not redirect what root reads and writes.
 */
public final class FolderBlobs implements BlobStore {
  /** Holds blobs while they are being written; no key begins with a dot. */
  static final String UNFINISHED = ".unfinished";

  private static final FileAttribute<?> FOLDER_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  static final FileAttribute<?> FILE_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Bytes read or written at a time: Java keeps as much again outside of the heap a thread. */
  static final int SLICE = 1 << 18;

  /** A file takes one write at a time, so each of 16 threads has one. */
  static final UploadLimits LIMITS =
      new UploadLimits(1 << 20, ChunkWorkers.MOST, ChunkWorkers.MOST);

  private final Path root;
  private final SecureRandom random = new SecureRandom();

  /** Blobs in a folder that exists. */
  public FolderBlobs(Path root) {
    this.root = root.toAbsolutePath().normalize();
  }

  @Override
  public Blob stat(String key) throws StoreException {
    try {
      return new FolderListing(root).blob(existing(key));
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }

  @Override
  public void read(String key, long offset, byte[] bytes, int length) throws StoreException {
    try {
      readFile(key, offset, bytes, length);
    } catch (IOException e) {
      if (!FolderFailure.isUnreadable(e) || !isWritable()) {
        throw FolderFailure.of(key, e);
      }
      readAgain(key, offset, bytes, length);
    }
  }

  /** A file server that is gone reports the same as a bad sector, but writes nothing either. */
  private boolean isWritable() {
    try {
      Files.delete(temporary(new byte[1]));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void readAgain(String key, long offset, byte[] bytes, int length) throws StoreException {
    try {
      readFile(key, offset, bytes, length);
    } catch (IOException e) {
      throw FolderFailure.isUnreadable(e)
          ? new StoreException.Damaged("%s: %s".formatted(key, e.getMessage()), e)
          : FolderFailure.of(key, e);
    }
  }

  private void readFile(String key, long offset, byte[] bytes, int length) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            existing(key), Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      for (int at = 0; at < length; ) {
        int count =
            channel.read(
                ByteBuffer.wrap(bytes, at, Math.min(SLICE, length - at)),
                Math.addExact(offset, at));
        if (count < 0) {
          throw new StoreException.Damaged(
              "%s: expected %d bytes at %d, got the end after %d"
                  .formatted(key, length, offset, at));
        }
        at += count;
      }
    }
  }

  @Override
  public boolean putIfAbsent(String key, byte[] bytes) throws StoreException {
    try {
      Path target = parentOf(key);
      Path temporary = temporary(bytes);
      try {
        Files.createLink(target, temporary);
      } catch (FileAlreadyExistsException e) {
        // A file server that repeats a call whose answer was lost reports the link it made itself.
        if (links(temporary) < 2) {
          return false;
        }
      } finally {
        Files.deleteIfExists(temporary);
      }
      sync(folderOf(target));
      return true;
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }

  @Override
  public void put(String key, byte[] bytes) throws StoreException {
    try {
      publish(temporary(bytes), parentOf(key));
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }

  @Override
  public UploadLimits uploadLimits() {
    return LIMITS;
  }

  @Override
  public BlobUpload upload(String key) throws StoreException {
    try {
      Path target = parentOf(key);
      return new FolderUpload(this, key, newTemporary(), target);
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }

  @Override
  public List<Blob> list(String prefix) throws StoreException {
    try {
      Path folder = prefix.isEmpty() ? root : resolve(prefix.substring(0, prefix.length() - 1));
      FolderListing listing = new FolderListing(root);
      if (!Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
        throw new NoSuchFileException(root.toString());
      }
      if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        requireNoLinks(folder);
        Files.walkFileTree(folder, listing);
      }
      return listing.blobs();
    } catch (IOException e) {
      throw FolderFailure.of(prefix, e);
    }
  }

  @Override
  public void delete(String key) throws StoreException {
    try {
      Path file = resolve(key);
      requireNoLinks(folderOf(file));
      if (Files.deleteIfExists(file)) {
        sync(folderOf(file));
      }
    } catch (NoSuchFileException e) {
      // Not even its folder exists.
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }

  @Override
  public int deleteUnfinished(Instant before) throws StoreException {
    int deleted = 0;
    try {
      Path folder = root.resolve(UNFINISHED);
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        return 0;
      }
      try (var files = Files.newDirectoryStream(folder)) {
        for (Path file : files) {
          try {
            FileTime modified = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS);
            if (modified.toInstant().isBefore(before) && Files.deleteIfExists(file)) {
              deleted++;
            }
          } catch (NoSuchFileException e) {
            // Its writer has given it its name meanwhile.
          }
        }
      }
      return deleted;
    } catch (IOException e) {
      throw FolderFailure.of(UNFINISHED, e);
    }
  }

  @Override
  public void close() {}

  /** Gives a written and synced temporary file its name. */
  void publish(Path temporary, Path target) throws IOException {
    Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    sync(folderOf(target));
  }

  private Path temporary(byte[] bytes) throws IOException {
    Path temporary = newTemporary();
    try (FileChannel channel =
        FileChannel.open(
            temporary,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            FILE_MODE)) {
      ByteBuffer buffer = ByteBuffer.wrap(bytes);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    } catch (IOException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
    return temporary;
  }

  private Path newTemporary() throws IOException {
    byte[] name = new byte[16];
    random.nextBytes(name);
    Path folder = root.resolve(UNFINISHED);
    createFolders(folder);
    return folder.resolve(HexFormat.of().formatHex(name));
  }

  private Path resolve(String key) {
    for (String segment : key.split("/", -1)) {
      if (!ArtifactId.isValid(segment)) {
        throw new IllegalArgumentException("key: expected a relative path, got \"" + key + "\"");
      }
    }
    return root.resolve(key);
  }

  private Path existing(String key) throws IOException {
    Path file = resolve(key);
    requireNoLinks(folderOf(file));
    return file;
  }

  private Path parentOf(String key) throws IOException {
    Path file = resolve(key);
    createFolders(folderOf(file));
    return file;
  }

  private static Path folderOf(Path file) {
    Path folder = file.getParent();
    if (folder == null) {
      throw new IllegalArgumentException("expected a file below the root, got " + file);
    }
    return folder;
  }

  private void createFolders(Path folder) throws IOException {
    if (!folder.equals(root) && !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      createFolders(folderOf(folder));
      try {
        Files.createDirectory(folder, FOLDER_MODE);
        sync(folderOf(folder));
      } catch (FileAlreadyExistsException e) {
        // Another writer made it, or it is a link, which the next line refuses.
      }
    }
    requireNoLinks(folder);
  }

  private void requireNoLinks(Path folder) throws IOException {
    for (Path at = folder; !at.equals(root); at = folderOf(at)) {
      BasicFileAttributes attributes =
          Files.readAttributes(at, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!attributes.isDirectory()) {
        throw new StoreException.Refused(
            "%s: expected a folder, got a link or a file".formatted(at), null);
      }
    }
  }

  private static int links(Path file) throws IOException {
    return Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS) instanceof Integer n
        ? n
        : 1;
  }

  private static void sync(Path folder) throws IOException {
    try (FileChannel channel =
        FileChannel.open(folder, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      channel.force(true);
    }
  }
}
