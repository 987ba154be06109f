package dev.stasis.agent.process;

import java.io.IOException;
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

/** Reads of /proc, in which a process that has ended is a value and not an exception. */
final class ProcFiles {

  private ProcFiles() {}

  static List<String> names(Path folder) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
    } catch (DirectoryIteratorException e) {
      // The cause is the original exception, always a failed read.
      return goneOrThrow(new IOException(String.valueOf(e.getCause()), e), List.of());
    } catch (IOException e) {
      return goneOrThrow(e, List.of());
    }
    return names;
  }

  static Optional<String> read(Path file) {
    try {
      return Optional.of(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    } catch (IOException e) {
      return goneOrThrow(e, Optional.empty());
    }
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
