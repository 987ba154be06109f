package dev.stasis.agent.process;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/**
 * The end of a log written by another program. The workload determines how long the log and its
 * lines are, so neither is ever in memory as a whole. A path in it may contain any byte.
 */
public final class LogTail {

  /** criu writes about 100 MB for a million descriptors; only its last lines matter. */
  private static final long MOST_BYTES = 64L << 20;

  /** Longer than any path; the remainder of a longer line is dropped. */
  private static final int LONGEST_LINE = 8192;

  private final Path file;
  private final long most;

  public LogTail(Path file) {
    this(file, MOST_BYTES);
  }

  LogTail(Path file, long most) {
    this.file = file;
    this.most = most;
  }

  /** Passes the last lines on, one by one; none if the file does not exist. */
  public void forEach(Consumer<String> line) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      channel.position(Math.max(0, channel.size() - most));
      read(new BufferedInputStream(Channels.newInputStream(channel), 1 << 16), line);
    } catch (NoSuchFileException e) {
      return;
    }
  }

  /** The last lines, oldest first. */
  public List<String> last(int count) throws IOException {
    Deque<String> lines = new ArrayDeque<>();
    forEach(
        line -> {
          if (lines.size() == count) {
            lines.removeFirst();
          }
          lines.add(line);
        });
    return List.copyOf(lines);
  }

  private static void read(InputStream in, Consumer<String> to) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    boolean any = false;
    for (int next = in.read(); next >= 0; next = in.read()) {
      any = next != '\n';
      if (!any) {
        to.accept(line.toString(StandardCharsets.UTF_8));
        line.reset();
      } else if (line.size() < LONGEST_LINE) {
        line.write(next);
      }
    }
    if (any) {
      to.accept(line.toString(StandardCharsets.UTF_8));
    }
  }
}
