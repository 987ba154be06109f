package dev.stasis.store;

import static dev.stasis.store.SharedFolders.folderOf;
import static dev.stasis.store.SharedFolders.sync;

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

  static final FileAttribute<?> FILE_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  /** Bytes read or written at a time: Java keeps as much again outside of the heap a thread. */
  static final int SLICE = 1 << 18;

  /** A file takes one write at a time, so each of 16 threads has one. */
  static final UploadLimits LIMITS =
      new UploadLimits(1 << 20, ChunkWorkers.MOST, ChunkWorkers.MOST);

  private final Path root;
  private final SharedFolders folders;
  private final SecureRandom random = new SecureRandom();

  /** Blobs in a folder that exists. */
  public FolderBlobs(Path root) {
    this.root = root.toAbsolutePath().normalize();
    this.folders = new SharedFolders(this.root);
  }

  @Override
  public Blob stat(String key) throws StoreException {
    try {
      folders.refresh(folderOf(resolve(key)));
      return new FolderListing(root).blob(existing(key));
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }

  @Override
  public void read(String key, long offset, byte[] bytes, int length) throws StoreException {
    try {
      readFile(key, offset, bytes, length);
    } catch (NoSuchFileException e) {
      // The file may be newer than what this node remembers.
      refreshAndRead(key, offset, bytes, length);
    } catch (IOException e) {
      if (!FolderFailure.isUnreadable(e) || !isWritable()) {
        throw FolderFailure.of(key, e);
      }
      readAgain(key, offset, bytes, length);
    }
  }

  private void refreshAndRead(String key, long offset, byte[] bytes, int length)
      throws StoreException {
    try {
      folders.refresh(folderOf(resolve(key)));
      readFile(key, offset, bytes, length);
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
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
        if (!isAt(target, inode(temporary))) {
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
      // What cannot be read is not empty: a collection would free every chunk.
      folders.refresh(root);
      if (folders.exists(folder)) {
        folders.requireNoLinks(folder);
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
      folders.refresh(folderOf(file));
      folders.requireNoLinks(folderOf(file));
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
    Object inode = inode(temporary);
    try {
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      if (!isAt(target, inode)) {
        throw e;
      }
    }
    sync(folderOf(target));
  }

  /**
   * Returns whether a call that failed has named the file nevertheless: a file server that restarts
   * before its answer arrives is asked again, and no longer knows that it has done it.
   */
  private boolean isAt(Path target, Object inode) throws IOException {
    folders.refresh(folderOf(target));
    return Files.exists(target, LinkOption.NOFOLLOW_LINKS) && inode.equals(inode(target));
  }

  private static Object inode(Path file) throws IOException {
    return Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
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
    folders.create(folder);
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
    folders.requireNoLinks(folderOf(file));
    return file;
  }

  private Path parentOf(String key) throws IOException {
    Path file = resolve(key);
    folders.create(folderOf(file));
    return file;
  }
}
