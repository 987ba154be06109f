package dev.stasis.agent.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/**
 * A record for a successor: a small file that is replaced by a rename, so that no reader ever sees
 * a part of it.
 */
public record RecordFile(Path path) {

  private static final String UNFINISHED = ".new";

  /**
   * Returns whether a file is a record, and not one that was being written when its writer died.
   */
  public static boolean isWhole(Path file) {
    return !file.toString().endsWith(UNFINISHED);
  }

  public void write(String text) throws IOException {
    write(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Creates or replaces it. Its folder must exist. */
  public void write(byte[] bytes) throws IOException {
    Path fresh = fresh();
    Files.write(fresh, bytes);
    move(fresh);
  }

  /** The same; when this returns, it is on the disk. */
  public void writeSynced(byte[] bytes) throws IOException {
    Path fresh = fresh();
    try (FileChannel channel =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer left = ByteBuffer.wrap(bytes);
      while (left.hasRemaining()) {
        channel.write(left);
      }
      channel.force(true);
    }
    move(fresh);
    try (FileChannel folder =
        FileChannel.open(Objects.requireNonNull(path.getParent()), StandardOpenOption.READ)) {
      folder.force(true);
    }
  }

  private Path fresh() {
    return path.resolveSibling(path.getFileName() + UNFINISHED);
  }

  private void move(Path fresh) throws IOException {
    Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
