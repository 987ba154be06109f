package dev.stasis.agent.stream;

import dev.stasis.agent.tmpfs.TmpfsPages;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file as it arrives, its blocks in any order and several at a time. */
final class IncomingFile implements Closeable {

  private final FileChannel channel;
  private final Optional<TmpfsPages> pages;

  private IncomingFile(FileChannel channel, Optional<TmpfsPages> pages) {
    this.channel = channel;
    this.pages = pages;
  }

  /** Opens it, and makes it and its folder where they are not there yet. */
  static IncomingFile open(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent != null && !Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(
          parent,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    FileChannel channel =
        FileChannel.open(
            path,
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      return new IncomingFile(channel, TmpfsPages.of(path));
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Where a block goes. */
  Place place(long offset, int length) throws IOException {
    if (pages.isEmpty()) {
      return new Place(offset, null);
    }
    atLeast(offset + length);
    return new Place(offset, pages.get().window(offset, length).orElse(null));
  }

  /** What is not written of it yet becomes a hole. It never gets shorter. */
  void atLeast(long size) throws IOException {
    synchronized (channel) {
      if (channel.size() < size) {
        // A hole up to the end: one byte of it is written, all others are not.
        channel.write(ByteBuffer.allocate(1), size - 1);
      }
    }
  }

  long size() throws IOException {
    return channel.size();
  }

  @Override
  public void close() throws IOException {
    pages.ifPresent(TmpfsPages::close);
    channel.close();
  }

  /** The place of one block, for the one thread that writes it from its beginning to its end. */
  final class Place implements Closeable {
    private final long offset;
    private final TmpfsPages.@Nullable Window window;
    private long done;

    private Place(long offset, TmpfsPages.@Nullable Window window) {
      this.offset = offset;
      this.window = window;
    }

    /** Writes the next part of the block. */
    void write(byte[] part, int length) throws IOException {
      if (window == null || !window.put(done, part, length)) {
        ByteBuffer data = ByteBuffer.wrap(part, 0, length);
        while (data.hasRemaining()) {
          channel.write(data, offset + done + data.position());
        }
      }
      done += length;
    }

    @Override
    public void close() {
      if (window != null) {
        window.close();
      }
    }
  }
}
