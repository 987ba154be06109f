package dev.stasis.agent.stream;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Lets so many bytes a second pass, all streams together; a block at a time. */
final class RateLimit {

  private final long bytesPerSecond;
  private final LongSupplier nanoTime;
  private long free;

  /**
   * @param bytesPerSecond 0: no limit
   */
  RateLimit(long bytesPerSecond, LongSupplier nanoTime) {
    this.bytesPerSecond = bytesPerSecond;
    this.nanoTime = nanoTime;
    this.free = nanoTime.getAsLong();
  }

  /** Nanoseconds until that many bytes may go; they are booked. */
  synchronized long book(int bytes) {
    if (bytesPerSecond == 0) {
      return 0;
    }
    long now = nanoTime.getAsLong();
    long start = Math.max(free, now);
    free = start + (long) (bytes * 1e9 / bytesPerSecond);
    return start - now;
  }

  void pass(int bytes) throws InterruptedException {
    long until = nanoTime.getAsLong() + book(bytes);
    for (long left = until - nanoTime.getAsLong(); left > 0; left = until - nanoTime.getAsLong()) {
      LockSupport.parkNanos(this, left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }
}
