package dev.stasis.agent.stream;

import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The files of one transfer as they arrive, in a private folder that exists. */
final class Incoming implements AutoCloseable {

  /** What an artifact holds: files of its own, and three folders of files. */
  private static final Pattern NAME =
      Pattern.compile("(?:(?:criu|layer|regions)/)?[A-Za-z0-9][A-Za-z0-9._-]{0,200}");

  /** No artifact is as large; up to there, offsets and lengths can be added. */
  private static final long MOST_OFFSET = 1L << 48;

  private final X509Certificate peer;
  private final long room;
  private final Path folder;
  private final Map<String, IncomingFile> files = new ConcurrentHashMap<>();
  private final AtomicLong bytes = new AtomicLong();
  private final CompletableFuture<Void> whole = new CompletableFuture<>();
  private volatile boolean closed;

  /**
   * @param room bytes that it may take
   */
  Incoming(X509Certificate peer, Path folder, long room) {
    this.room = room;
    this.peer = peer;
    this.folder = folder;
  }

  boolean isFrom(@Nullable X509Certificate certificate) {
    return peer.equals(certificate);
  }

  X509Certificate peer() {
    return peer;
  }

  /** Ends well when every file is whole, else with the reason. */
  CompletableFuture<Void> whole() {
    return whole;
  }

  long bytes() {
    return bytes.get();
  }

  /** Where a block goes; the same one twice does no harm. */
  IncomingFile.Place place(String name, long offset, int length) throws IOException {
    if (offset < 0 || offset > MOST_OFFSET) {
      throw new IOException("expected an offset from 0 to " + MOST_OFFSET + ", got " + offset);
    }
    if (bytes.get() + length > room) {
      throw new IOException(
          "expected at most %d bytes, for which there is room in the store, got more"
              .formatted(room));
    }
    return file(name).place(offset, length);
  }

  /** So many bytes more have been written. */
  void wrote(int length) {
    bytes.addAndGet(length);
  }

  /** Gives every file its size, which tells the holes at their ends. */
  void finish(SortedMap<String, Long> sizes) throws IOException {
    Set<String> unknown = new java.util.TreeSet<>(files.keySet());
    unknown.removeAll(sizes.keySet());
    if (!unknown.isEmpty()) {
      throw new IOException("files: wanted those of the list, found also " + unknown);
    }
    for (var entry : sizes.entrySet()) {
      IncomingFile file = file(entry.getKey());
      long size = entry.getValue();
      if (size < 0 || size > MOST_OFFSET + Outbound.BLOCK || file.size() > size) {
        throw new IOException(
            "file %s: expected %d bytes, got %d".formatted(entry.getKey(), size, file.size()));
      }
      file.atLeast(size);
    }
  }

  private IncomingFile file(String name) throws IOException {
    if (!NAME.matcher(name).matches()) {
      throw new IOException("file: wanted a name of an artifact's file, found \"" + name + "\"");
    }
    IncomingFile known = files.get(name);
    if (known != null) {
      return known;
    }
    synchronized (files) {
      if (closed) {
        throw new IOException("transfer: it has ended");
      }
      IncomingFile again = files.get(name);
      if (again == null) {
        again = IncomingFile.open(folder.resolve(name));
        files.put(name, again);
      }
      return again;
    }
  }

  @Override
  public void close() throws IOException {
    synchronized (files) {
      closed = true;
      for (IncomingFile file : files.values()) {
        file.close();
      }
    }
    whole.completeExceptionally(new IOException("transfer: it was ended before it was whole"));
  }
}
