package dev.stasis.agent.layer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/** Reads an archive from its beginning on, and large parts of it at any position. */
final class ArchiveFile extends InputStream {
  private final FileChannel file;
  private final ByteBuffer buffer = ByteBuffer.allocate(1 << 18).limit(0);

  /** Where the buffer ends in the file. */
  private long end;

  ArchiveFile(Path archive) throws IOException {
    file = FileChannel.open(archive, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  /** Returns where the next byte is in the file. */
  long position() {
    return end - buffer.remaining();
  }

  /**
   * Fills the buffer with the bytes of this place. Several threads may call it.
   *
   * @return false at the end of the file
   */
  boolean readFully(ByteBuffer into, long position) throws IOException {
    for (long at = position; into.hasRemaining(); ) {
      int count = file.read(into, at);
      if (count < 0) {
        return false;
      }
      at += count;
    }
    return true;
  }

  @Override
  public int read() throws IOException {
    return fill() ? buffer.get() & 0xff : -1;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (!fill()) {
      return -1;
    }
    int count = Math.min(length, buffer.remaining());
    buffer.get(into, offset, count);
    return count;
  }

  @Override
  public long skip(long count) throws IOException {
    long skipped = Math.max(0, Math.min(count, file.size() - position()));
    if (skipped <= buffer.remaining()) {
      buffer.position(buffer.position() + (int) skipped);
    } else {
      end = position() + skipped;
      buffer.limit(0);
    }
    return skipped;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }

  private boolean fill() throws IOException {
    while (!buffer.hasRemaining()) {
      buffer.clear();
      int count;
      try {
        count = file.read(buffer, end);
      } finally {
        buffer.flip();
      }
      if (count < 0) {
        return false;
      }
      end += count;
    }
    return true;
  }
}
