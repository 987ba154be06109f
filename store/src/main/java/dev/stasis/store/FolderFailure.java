package dev.stasis.store;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Locale;

/** Tells what a failure of a file system means for its user. */
final class FolderFailure {
  private static final List<String> FULL =
      List.of("no space left", "quota exceeded", "file too large");

  private static final String UNREADABLE = "input/output error";

  /** What Linux reports for a file server that is gone or restarted. */
  private static final List<String> UNREACHABLE =
      List.of(
          "stale file handle",
          UNREADABLE,
          "timed out",
          "not connected",
          "host is down",
          "no route to host",
          "connection refused",
          "connection reset");

  private FolderFailure() {}

  static StoreException of(String key, IOException failure) {
    if (failure instanceof StoreException known) {
      return known;
    }
    String message = "%s: %s".formatted(key, failure.getMessage());
    String words = words(failure);
    if (failure instanceof NoSuchFileException) {
      return new StoreException.NotFound(
          "%s: expected a file in the store, got none".formatted(key), failure);
    }
    if (failure instanceof AccessDeniedException
        || words.contains("permission denied")
        || words.contains("operation not permitted")) {
      return new StoreException.AccessDenied(
          "%s: expected access as root, got permission denied; an NFS export needs no_root_squash"
              .formatted(key),
          failure);
    }
    if (words.contains("read-only file system")) {
      return new StoreException.AccessDenied(
          "%s: expected a writable file system, got a read-only one; mount or export it with rw"
              .formatted(key),
          failure);
    }
    if (FULL.stream().anyMatch(words::contains)) {
      return new StoreException.Full(message, failure);
    }
    if (UNREACHABLE.stream().anyMatch(words::contains)) {
      return new StoreException.Unreachable(message, failure);
    }
    return new StoreException.Refused(message, failure);
  }

  /** Returns whether it is that of a bad sector, or of a file server that is gone. */
  static boolean isUnreadable(IOException failure) {
    return words(failure).contains(UNREADABLE);
  }

  private static String words(IOException failure) {
    return String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
  }
}
