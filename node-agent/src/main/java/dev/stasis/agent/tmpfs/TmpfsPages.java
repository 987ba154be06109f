package dev.stasis.agent.tmpfs;

import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import dev.stasis.agent.process.LibC;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A tmpfs file that is written through mappings. Writes by system call serialize on the file, which
 * limits it to about 5 GB/s however many streams write.
 */
public final class TmpfsPages implements Closeable {

  private static final long PAGE = 4096;

  /** The size of a huge page. For a smaller part a mapping brings no gain. */
  private static final long LEAST = 2L << 20;

  /**
   * Parts that are written at the same time share a mapping of this size: to map and unmap each of
   * them stops all threads that fill pages.
   */
  private static final long SEGMENT = 256L << 20;

  private final Map<Long, Segment> segments = new HashMap<>();
  private int fd;
  private long length;

  private TmpfsPages(int fd) {
    this.fd = fd;
    this.length = LibC.INSTANCE.lseek(fd, 0, LibC.SEEK_END);
  }

  /** Empty if mappings bring no gain or are not possible; the caller then uses the channel. */
  public static Optional<TmpfsPages> of(Path file) throws IOException {
    if (!Files.getFileStore(file).type().equals("tmpfs") || !Platform.is64Bit()) {
      return Optional.empty();
    }
    int fd = LibC.INSTANCE.open(file.toString(), LibC.O_RDWR | LibC.O_CLOEXEC | LibC.O_NOFOLLOW);
    return fd < 0 ? Optional.empty() : Optional.of(new TmpfsPages(fd));
  }

  /**
   * Makes the file long enough for a part, without using memory, and maps the part for writing;
   * empty if it cannot be mapped, or that brings no gain.
   *
   * @param length the file must not become shorter while the window is open
   */
  public synchronized Optional<Window> window(long offset, long length) {
    long segment = offset / SEGMENT;
    // Also for a part that is not mapped: if its write made the file longer, the next call would
    // cut it off.
    if (fd < 0
        || !reaches(offset + length)
        || offset % PAGE != 0
        || length < LEAST
        || (offset + length - 1) / SEGMENT != segment) {
      return Optional.empty();
    }
    Segment mapped = segments.get(segment);
    if (mapped == null) {
      Pointer at =
          LibC.INSTANCE.mmap(
              Pointer.NULL, SEGMENT, LibC.PROT_READ_WRITE, LibC.MAP_SHARED, fd, segment * SEGMENT);
      if (Pointer.nativeValue(at) == LibC.MAP_FAILED) {
        return Optional.empty();
      }
      // Without an effect where the mount does not allow huge pages.
      var unused = LibC.INSTANCE.madvise(at, SEGMENT, LibC.MADV_HUGEPAGE);
      mapped = new Segment(segment, at);
      segments.put(segment, mapped);
    }
    mapped.windows++;
    return Optional.of(new Window(mapped, mapped.at.share(offset % SEGMENT), length));
  }

  private boolean reaches(long end) {
    if (length < end && LibC.INSTANCE.ftruncate(fd, end) == 0) {
      length = end;
    }
    return length >= end;
  }

  private synchronized void leave(Segment segment) {
    if (--segment.windows == 0) {
      segments.remove(segment.number);
      LibC.INSTANCE.munmap(segment.at, SEGMENT);
    }
  }

  /** A mapping, as long as windows in it are open. */
  private static final class Segment {
    private final long number;
    private final Pointer at;
    private int windows;

    Segment(long number, Pointer at) {
      this.number = number;
      this.at = at;
    }
  }

  /**
   * A part of the file, for use by one thread from its beginning to its end. It stays valid after
   * the file is closed.
   */
  public final class Window implements Closeable {
    private final Segment segment;
    private final Pointer pointer;
    private final long length;
    private long present;

    private Window(Segment segment, Pointer pointer, long length) {
      this.segment = segment;
      this.pointer = pointer;
      this.length = length;
    }

    /**
     * Writes into the window. The pages are allocated by a system call first: it reports missing
     * space, whereas touching such a page would end the agent (SIGBUS).
     *
     * @return false if there is no space, or the kernel does not have that call (before Linux 5.14)
     */
    public boolean put(long at, byte[] data, int size) {
      if (at < 0 || size < 0 || at + size > length) {
        throw new IllegalArgumentException(
            "part at %d of %d bytes: expected within %d".formatted(at, size, length));
      }
      if (at + size > present) {
        long first = Math.min(present, at / PAGE * PAGE);
        long end = Math.min(length, (at + size + LEAST - 1) / LEAST * LEAST);
        if (LibC.INSTANCE.madvise(pointer.share(first), end - first, LibC.MADV_POPULATE_WRITE)
            != 0) {
          return false;
        }
        present = end;
      }
      pointer.write(at, data, 0, size);
      return true;
    }

    @Override
    public void close() {
      leave(segment);
    }
  }

  /** Opens no more windows; existing ones stay valid. */
  @Override
  public synchronized void close() {
    if (fd >= 0) {
      LibC.INSTANCE.close(fd);
      fd = -1;
    }
  }
}
