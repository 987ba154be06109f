package dev.stasis.store;

import dev.stasis.artifact.WriteBehind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/** A blob that is written to a temporary file of a folder. */
final class FolderUpload implements BlobUpload {
  private final FolderBlobs blobs;
  private final String key;
  private final Path temporary;
  private final Path target;
  private final FileChannel channel;
  private final WriteBehind behind;
  private boolean committed;

  FolderUpload(FolderBlobs blobs, String key, Path temporary, Path target) throws IOException {
    this.blobs = blobs;
    this.key = key;
    this.temporary = temporary;
    this.target = target;
    this.channel =
        FileChannel.open(
            temporary,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            FolderBlobs.FILE_MODE);
    this.behind = new WriteBehind(channel, WriteBehind.USUAL);
  }

  @Override
  public void part(int number, ByteBuffer bytes) throws StoreException {
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
      throw FolderFailure.of(key, e);
    }
  }

  /** May be repeated if its response was lost. */
  @Override
  public void commit(int parts, long size) throws StoreException {
    if (committed) {
      return;
    }
    try {
      if (channel.size() != size) {
        throw new StoreException.Damaged(
            "%s: expected %d bytes written, got %d".formatted(key, size, channel.size()));
      }
      channel.force(true);
      blobs.publish(temporary, target);
      committed = true;
      channel.close();
    } catch (IOException e) {
      throw FolderFailure.of(key, e);
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
