package dev.stasis.artifact;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Writes to a file, and waits for the disk before the kernel has too much of it left to write. Such
 * pages cannot be reclaimed, and the container of the writer is charged for them: the kernel killed
 * an agent at its limit of 768 MiB while sixteen threads copied from memory to a disk. Any number
 * of threads may write at once.
 */
public final class WriteBehind {

  /** A disk writes it in a tenth of a second or less; a flush costs a few milliseconds. */
  public static final long USUAL = 32L << 20;

  private final FileChannel file;
  private final long most;
  private final AtomicLong unwritten = new AtomicLong();
  private volatile @Nullable IOException lost;

  /**
   * For a file that the caller closes.
   *
   * @param most how many bytes are written before a flush; about twice as many are left to the
   *     kernel at a time
   */
  public WriteBehind(FileChannel file, long most) {
    this.file = file;
    this.most = most;
  }

  /** Writes all remaining bytes to a place of the file. */
  public void write(ByteBuffer bytes, long position) throws IOException {
    int count = bytes.remaining();
    for (long at = position; bytes.hasRemaining(); ) {
      at += file.write(bytes, at);
    }
    wrote(count);
  }

  /** Counts bytes that were written to the file in another way. */
  public void wrote(long count) throws IOException {
    requireNothingLost();
    if (unwritten.addAndGet(count) >= most) {
      flush();
    }
  }

  /**
   * A thread that arrives during a flush waits for it, so all of them write as fast as the disk.
   */
  private synchronized void flush() throws IOException {
    if (unwritten.get() >= most) {
      unwritten.set(0);
      try {
        file.force(false);
      } catch (IOException e) {
        lost = e;
        throw e;
      }
    }
  }

  /**
   * Checks that the file may still be used.
   *
   * @throws IOException if a flush has failed: Linux reports lost bytes once, and the next flush
   *     succeeds without them
   */
  public void requireNothingLost() throws IOException {
    @Nullable IOException failure = lost;
    if (failure != null) {
      throw new IOException(failure.getMessage(), failure);
    }
  }
}
