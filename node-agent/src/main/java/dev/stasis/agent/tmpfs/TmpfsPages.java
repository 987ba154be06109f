package dev.stasis.agent.tmpfs;

import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import dev.stasis.agent.process.LibC;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A tmpfs file that is written through mappings. Writes by system call serialize on the file, which
 * limits it to about 5 GB/s however many streams write.
 */
public final class TmpfsPages implements Closeable {

  private static final long PAGE = 4096;

  private final ReadWriteLock lock = new ReentrantReadWriteLock();
  private int fd;

  private TmpfsPages(int fd) {
    this.fd = fd;
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
   * Maps a part of the file for writing; empty if that fails.
   *
   * @param length the file must have at least this length after the offset, and must keep it
   */
  public Optional<Window> window(long offset, long length) {
    if (offset % PAGE != 0 || length <= 0) {
      return Optional.empty();
    }
    // A close at the same time would let another file get its descriptor number.
    Lock open = lock.readLock();
    open.lock();
    try {
      if (fd < 0) {
        return Optional.empty();
      }
      Pointer at =
          LibC.INSTANCE.mmap(
              Pointer.NULL, length, LibC.PROT_READ_WRITE, LibC.MAP_SHARED, fd, offset);
      return Pointer.nativeValue(at) == LibC.MAP_FAILED
          ? Optional.empty()
          : Optional.of(new Window(at, length));
    } finally {
      open.unlock();
    }
  }

  /** A part of the file, for use by one thread. It stays valid after the file is closed. */
  public static final class Window implements Closeable {
    private final Pointer pointer;
    private final long length;

    private Window(Pointer pointer, long length) {
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
      long first = at / PAGE * PAGE;
      if (LibC.INSTANCE.madvise(pointer.share(first), at + size - first, LibC.MADV_POPULATE_WRITE)
          != 0) {
        return false;
      }
      pointer.write(at, data, 0, size);
      return true;
    }

    @Override
    public void close() {
      LibC.INSTANCE.munmap(pointer, length);
    }
  }

  /** Opens no more windows; existing ones stay valid. */
  @Override
  public void close() {
    Lock alone = lock.writeLock();
    alone.lock();
    try {
      if (fd >= 0) {
        LibC.INSTANCE.close(fd);
        fd = -1;
      }
    } finally {
      alone.unlock();
    }
  }
}
