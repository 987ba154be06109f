package dev.stasis.agent.layer;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Remembers the first path of each file with several links. The paths are stored in a file without
 * a name, because a workload may have any number of them.
 */
final class HardLinks implements Closeable {

  /** Takes about 15 MiB of memory: package managers link tens of thousands of files. */
  static final int MOST = 100_000;

  private final FileChannel paths;
  private final Map<String, First> open = new HashMap<>();

  /**
   * @param folder on a disk; nothing is left in it
   */
  HardLinks(Path folder) throws IOException {
    Path file = Files.createTempFile(folder, ".links", null);
    try {
      paths = FileChannel.open(file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE));
    } finally {
      Files.delete(file);
    }
  }

  /** The offset of the first path, and the number of links still to come. */
  private static final class First {
    private final long offset;
    private final int length;
    private long left;

    First(long offset, int length, long left) {
      this.offset = offset;
      this.length = length;
      this.left = left;
    }
  }

  /** Returns the path under which the file was first seen; empty for the first path itself. */
  Optional<String> first(Stat stat, String path) throws IOException {
    First first = open.get(stat.inode());
    if (first != null) {
      if (--first.left == 0) {
        open.remove(stat.inode());
      }
      return Optional.of(read(first));
    }
    if (open.size() == MOST) {
      throw new IOException(
          "%s: expected at most %d files with unvisited hard links, got more"
              .formatted(LinuxError.shown(path), MOST));
    }
    byte[] bytes = path.getBytes(StandardCharsets.ISO_8859_1);
    open.put(stat.inode(), new First(paths.size(), bytes.length, stat.links() - 1));
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    for (long at = paths.size(); buffer.hasRemaining(); ) {
      at += paths.write(buffer, at);
    }
    return Optional.empty();
  }

  private String read(First first) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(first.length);
    while (buffer.hasRemaining()) {
      if (paths.read(buffer, first.offset + buffer.position()) < 0) {
        throw new EOFException("paths of hard links: expected one at " + first.offset);
      }
    }
    return new String(buffer.array(), StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    paths.close();
  }
}
