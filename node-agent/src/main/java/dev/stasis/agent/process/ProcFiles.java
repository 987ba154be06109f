package dev.stasis.agent.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Reads of /proc, in which a process that has ended is a value and not an exception. */
final class ProcFiles {

  /** More than the kernel writes into a file that no process can enlarge. */
  private static final int USUAL_BYTES = 1 << 20;

  private static final int CHUNK = 1 << 16;

  /**
   * What was read of a file.
   *
   * @param whole whether it is all of it
   */
  record Beginning(String text, boolean whole) {}

  private ProcFiles() {}

  /** Returns the names in a folder; of more than {@code most}, one more than that. */
  static List<String> names(Path folder, int most) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        names.add(String.valueOf(entry.getFileName()));
        if (names.size() > most) {
          break;
        }
      }
    } catch (DirectoryIteratorException e) {
      // The cause is the original exception, always a failed read.
      return goneOrThrow(new IOException(String.valueOf(e.getCause()), e), List.of());
    } catch (IOException e) {
      return goneOrThrow(e, List.of());
    }
    return names;
  }

  /** Reads a file that no process can enlarge, such as its status. */
  static Optional<String> read(Path file) {
    return read(file, USUAL_BYTES).map(Beginning::text);
  }

  static Optional<Beginning> read(Path file, int most) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(most + 1);
      return Optional.of(
          new Beginning(
              new String(bytes, 0, Math.min(most, bytes.length), StandardCharsets.UTF_8),
              bytes.length <= most));
    } catch (IOException e) {
      return goneOrThrow(e, Optional.empty());
    }
  }

  /**
   * Passes on each line that is not empty, until one is not accepted. Only a newline ends a line: a
   * name may contain a carriage return.
   *
   * @return whether all lines were accepted; empty if the process is gone
   */
  static Optional<Boolean> lines(Path file, long most, Predicate<String> accept) {
    try (InputStream in = Files.newInputStream(file)) {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      byte[] chunk = new byte[CHUNK];
      long all = 0;
      for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
        all += length;
        if (all > most) {
          return Optional.of(false);
        }
        int begin = 0;
        for (int i = 0; i < length; i++) {
          if (chunk[i] == '\n') {
            line.write(chunk, begin, i - begin);
            begin = i + 1;
            if (!accepted(line, accept)) {
              return Optional.of(false);
            }
          }
        }
        line.write(chunk, begin, length - begin);
      }
      return Optional.of(accepted(line, accept));
    } catch (IOException e) {
      return goneOrThrow(e, Optional.empty());
    }
  }

  private static boolean accepted(ByteArrayOutputStream line, Predicate<String> accept) {
    String text = line.toString(StandardCharsets.UTF_8);
    line.reset();
    return text.isEmpty() || accept.test(text);
  }

  static Optional<String> link(Path link) {
    return link(() -> Files.readSymbolicLink(link));
  }

  /** Reads a link of /proc, by its path. */
  interface LinkRead {
    Path read() throws IOException;
  }

  /**
   * A process that ends between the lookup of its link and the reading of it gives EACCES, as does
   * one that may not be read; only the next lookup tells them apart.
   */
  static Optional<String> link(LinkRead link) {
    try {
      try {
        return Optional.of(link.read().toString());
      } catch (AccessDeniedException e) {
        return Optional.of(link.read().toString());
      }
    } catch (IOException e) {
      return goneOrThrow(e, Optional.empty());
    }
  }

  /**
   * Returns whether the process has ended. A file that was opened before gives ESRCH when it is
   * read after the end, some give ENOENT, and the mounts of a zombie give EINVAL.
   */
  static boolean isGone(IOException e) {
    String message = String.valueOf(e.getMessage());
    return e instanceof NoSuchFileException
        || e instanceof NotDirectoryException
        || message.endsWith("No such process")
        || message.endsWith("No such file or directory")
        || message.endsWith("Invalid argument");
  }

  private static <T> T goneOrThrow(IOException e, T gone) {
    if (isGone(e)) {
      return gone;
    }
    String message = String.valueOf(e.getMessage());
    if (e instanceof AccessDeniedException) {
      throw new UncheckedIOException("no permission to read " + message, e);
    }
    throw new UncheckedIOException(e);
  }
}
