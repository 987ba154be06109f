package dev.stasis.agent.stream;

import dev.stasis.agent.tmpfs.TmpfsPages;
import dev.stasis.artifact.WriteBehind;
import java.io.Closeable;
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
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The files of one transfer as they arrive, in an existing private folder. */
final class ReceiveSession implements AutoCloseable {

  /** The content of an artifact: single files, and four folders of files. */
  private static final Pattern NAME =
      Pattern.compile("(?:(?:criu|device|layer|regions)/)?[A-Za-z0-9][A-Za-z0-9._-]{0,200}");

  /**
   * No artifact is as large; up to this size, offsets and lengths can be added without overflow.
   */
  private static final long MOST_OFFSET = 1L << 48;

  private final X509Certificate peer;
  private final long room;
  private final Path folder;
  private final BlockListener listener;
  private final Map<String, IncomingFile> files = new ConcurrentHashMap<>();
  private final AtomicLong bytes = new AtomicLong();
  private final CompletableFuture<Void> whole = new CompletableFuture<>();
  private volatile boolean closed;

  /**
   * @param room maximum number of bytes
   */
  ReceiveSession(X509Certificate peer, Path folder, long room, BlockListener listener) {
    this.listener = listener;
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

  /** Completes when every file is complete, or fails with the reason. */
  CompletableFuture<Void> whole() {
    return whole;
  }

  long bytes() {
    return bytes.get();
  }

  /** Returns the destination of a block; receiving the same block twice is harmless. */
  IncomingFile.Place place(String name, long offset, int length) throws IOException {
    if (offset < 0 || offset > MOST_OFFSET) {
      throw new IOException("expected an offset from 0 to " + MOST_OFFSET + ", got " + offset);
    }
    if (bytes.get() + length > room) {
      throw new IOException(
          "expected at most %d bytes, the free space in the store, got more".formatted(room));
    }
    return file(name).place(offset, length);
  }

  /** A block is in its file, and is what the peer has sent. */
  void arrived(String name, long offset, int length) {
    listener.arrived(name, offset, length);
  }

  /** Counts further bytes as written. */
  void wrote(int length) {
    bytes.addAndGet(length);
  }

  /** Sets the size of every file, which creates the holes at their ends. */
  void finish(SortedMap<String, Long> sizes) throws IOException {
    Set<String> unknown = new java.util.TreeSet<>(files.keySet());
    unknown.removeAll(sizes.keySet());
    if (!unknown.isEmpty()) {
      throw new IOException("files: expected only those in the list, got also " + unknown);
    }
    for (var entry : sizes.entrySet()) {
      IncomingFile file = file(entry.getKey());
      long size = entry.getValue();
      if (size < 0 || size > MOST_OFFSET + SendQueue.BLOCK || file.size() > size) {
        throw new IOException(
            "file %s: expected %d bytes, got %d".formatted(entry.getKey(), size, file.size()));
      }
      file.atLeast(size);
    }
  }

  private IncomingFile file(String name) throws IOException {
    if (!NAME.matcher(name).matches()) {
      throw new IOException(
          "file: expected the name of a file of an artifact, got \"" + name + "\"");
    }
    IncomingFile known = files.get(name);
    if (known != null) {
      return known;
    }
    synchronized (files) {
      if (closed) {
        throw new IOException("transfer: has ended");
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
    whole.completeExceptionally(new IOException("transfer: ended before it was complete"));
  }

  /** A file as it arrives: blocks in any order and in parallel. */
  static final class IncomingFile implements Closeable {

    private final FileChannel channel;
    private final WriteBehind behind;
    private final Optional<TmpfsPages> pages;

    private IncomingFile(FileChannel channel, Optional<TmpfsPages> pages) {
      this.channel = channel;
      this.behind = new WriteBehind(channel, WriteBehind.USUAL);
      this.pages = pages;
    }

    /** Opens the file, and creates it and its folder if they do not exist. */
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
              Set.of(
                  StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      try {
        return new IncomingFile(channel, TmpfsPages.of(path));
      } catch (IOException e) {
        channel.close();
        throw e;
      }
    }

    /** Returns the destination of a block. */
    Place place(long offset, int length) {
      return new Place(offset, pages.flatMap(open -> open.window(offset, length)).orElse(null));
    }

    /**
     * Sets the size: bytes that are not written yet become a hole. The file never becomes shorter.
     */
    void atLeast(long size) throws IOException {
      synchronized (channel) {
        if (channel.size() < size) {
          // Creates a hole up to the end by writing its last byte only.
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

    /** The destination of one block, written by one thread from its beginning to its end. */
    final class Place implements Closeable {
      private final long offset;
      private final TmpfsPages.@Nullable Window window;
      private long done;

      private Place(long offset, TmpfsPages.@Nullable Window window) {
        this.offset = offset;
        this.window = window;
      }

      void write(byte[] part, int length) throws IOException {
        if (window == null || !window.put(done, part, length)) {
          behind.write(ByteBuffer.wrap(part, 0, length), offset + done);
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
}
