package dev.stasis.agent.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
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

  private final X509Certificate peer;
  private final Path folder;
  private final Map<String, FileChannel> files = new ConcurrentHashMap<>();
  private final AtomicLong bytes = new AtomicLong();
  private final CompletableFuture<Void> whole = new CompletableFuture<>();
  private volatile boolean closed;

  Incoming(X509Certificate peer, Path folder) {
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

  /** Writes a block; the same one twice does no harm. */
  void write(String name, long offset, ByteBuffer data) throws IOException {
    int length = data.remaining();
    if (offset < 0) {
      throw new IOException("block of " + name + ": wanted an offset from 0, found " + offset);
    }
    FileChannel file = file(name);
    for (long at = offset; data.hasRemaining(); ) {
      at += file.write(data, at);
    }
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
      FileChannel file = file(entry.getKey());
      long size = entry.getValue();
      if (size < 0 || file.size() > size) {
        throw new IOException(
            "file %s: wanted %d bytes, found %d".formatted(entry.getKey(), size, file.size()));
      }
      if (file.size() < size) {
        // A hole up to the end: one byte of it is written, all others are not.
        file.write(ByteBuffer.allocate(1), size - 1);
      }
    }
  }

  private FileChannel file(String name) throws IOException {
    if (!NAME.matcher(name).matches()) {
      throw new IOException("file: wanted a name of an artifact's file, found \"" + name + "\"");
    }
    FileChannel known = files.get(name);
    if (known != null) {
      return known;
    }
    synchronized (files) {
      if (closed) {
        throw new IOException("transfer: it has ended");
      }
      FileChannel again = files.get(name);
      if (again == null) {
        again = open(folder.resolve(name));
        files.put(name, again);
      }
      return again;
    }
  }

  private static FileChannel open(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent != null && !Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(
          parent,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    return FileChannel.open(
        path,
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  @Override
  public void close() throws IOException {
    synchronized (files) {
      closed = true;
      for (FileChannel file : files.values()) {
        file.close();
      }
    }
    whole.completeExceptionally(new IOException("transfer: it was ended before it was whole"));
  }
}
