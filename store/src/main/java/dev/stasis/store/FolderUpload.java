package dev.stasis.store;

import dev.stasis.artifact.WriteBehind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A blob that is written to a temporary file of a folder. After a failed write or sync the blob is
 * never published: Linux reports lost bytes once, so that a repeated sync succeeds without them.
 */
final class FolderUpload implements BlobUpload {
  private final FolderBlobs blobs;
  private final String key;
  private final Path temporary;
  private final Path target;
  private final FileChannel channel;
  private final WriteBehind behind;
  private final AtomicReference<@Nullable IOException> failure = new AtomicReference<>();
  private boolean committed;

  FolderUpload(FolderBlobs blobs, String key, Path temporary, Path target) throws IOException {
    this(
        blobs,
        key,
        temporary,
        target,
        FileChannel.open(
            temporary,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            FolderBlobs.FILE_MODE));
  }

  /**
   * @param channel writes the temporary file
   */
  FolderUpload(FolderBlobs blobs, String key, Path temporary, Path target, FileChannel channel) {
    this.blobs = blobs;
    this.key = key;
    this.temporary = temporary;
    this.target = target;
    this.channel = channel;
    this.behind = new WriteBehind(channel, WriteBehind.USUAL);
  }

  @Override
  public void part(int number, ByteBuffer bytes) throws StoreException {
    requireAllWritten();
    try {
      long at = (long) number * FolderBlobs.LIMITS.partBytes();
      int end = bytes.limit();
      while (bytes.position() < end) {
        bytes.limit(Math.min(end, bytes.position() + FolderBlobs.SLICE));
        int count = bytes.remaining();
        behind.write(bytes, at);
        at += count;
      }
    } catch (IOException e) {
      failure.compareAndSet(null, e);
      throw FolderFailure.of(key, e);
    }
  }

  /** May be repeated if its response was lost. */
  @Override
  public void commit(int parts, long size) throws StoreException {
    if (committed) {
      return;
    }
    requireAllWritten();
    try {
      // Before its size is read: a file server may have lost bytes that the sync reports.
      sync();
      if (channel.size() != size) {
        throw new StoreException.WriteLost(
            "%s: expected %d bytes written, got %d".formatted(key, size, channel.size()), null);
      }
      blobs.publish(temporary, target);
      committed = true;
      channel.close();
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }

  private void sync() throws IOException {
    try {
      channel.force(true);
    } catch (IOException e) {
      failure.compareAndSet(null, e);
      throw e;
    }
  }

  private void requireAllWritten() throws StoreException {
    IOException first = failure.get();
    if (first != null) {
      StoreException cause = FolderFailure.of(key, first);
      throw cause.isTransient()
          ? new StoreException.WriteLost(String.valueOf(cause.getMessage()), first)
          : cause;
    }
  }

  @Override
  public void abort() throws StoreException {
    try {
      channel.close();
      Files.deleteIfExists(temporary);
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
    }
  }
}
