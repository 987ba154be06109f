package dev.stasis.agent.tmpfs;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
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
    int fd = Libc.INSTANCE.open(file.toString(), Libc.O_RDWR | Libc.O_CLOEXEC | Libc.O_NOFOLLOW);
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
          Libc.INSTANCE.mmap(
              Pointer.NULL, length, Libc.PROT_READ_WRITE, Libc.MAP_SHARED, fd, offset);
      return Pointer.nativeValue(at) == Libc.MAP_FAILED
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
      if (Libc.INSTANCE.madvise(pointer.share(first), at + size - first, Libc.MADV_POPULATE_WRITE)
          != 0) {
        return false;
      }
      pointer.write(at, data, 0, size);
      return true;
    }

    @Override
    public void close() {
      Libc.INSTANCE.munmap(pointer, length);
    }
  }

  /** Opens no more windows; existing ones stay valid. */
  @Override
  public void close() {
    Lock alone = lock.writeLock();
    alone.lock();
    try {
      if (fd >= 0) {
        Libc.INSTANCE.close(fd);
        fd = -1;
      }
    } finally {
      alone.unlock();
    }
  }

  /** Memory of mappings: Java unmaps it at some later garbage collection. */
  private interface Libc extends Library {
    Libc INSTANCE = Native.load("c", Libc.class);

    int O_RDWR = 2;
    int O_NOFOLLOW = Platform.isARM() ? 0x8000 : 0x20000;
    int O_CLOEXEC = 0x80000;
    int PROT_READ_WRITE = 3;
    int MAP_SHARED = 1;
    long MAP_FAILED = -1;
    int MADV_POPULATE_WRITE = 23;

    int open(String path, int flags, Object... mode);

    Pointer mmap(Pointer at, long length, int protection, int flags, int fd, long offset);

    int madvise(Pointer at, long length, int advice);

    int munmap(Pointer at, long length);

    int close(int fd);
  }
}
