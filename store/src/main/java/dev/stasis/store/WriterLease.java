package dev.stasis.store;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Informs collections that a writer is active, which may refer to chunks that no manifest contains
 * yet. It consists of a blob that says when the writer began, and one that is written every minute.
 */
final class WriterLease implements AutoCloseable {
  static final String BEGAN = ".began";
  static final String ALIVE = ".alive";

  /** A collection treats a writer as gone that long after its last renewal. */
  static final Duration EXPIRY = Duration.ofHours(24);

  /** Half of it: the clocks of two machines run at the same speed, but not exactly. */
  private static final Duration MOST_SILENCE = EXPIRY.dividedBy(2);

  private static final Logger LOG = System.getLogger(WriterLease.class.getName());

  private final BlobStore direct;
  private final String key;
  private final LongSupplier nanoTime;
  private final ScheduledExecutorService heart;
  private volatile long lastSign;

  private WriterLease(BlobStore direct, String key, LongSupplier nanoTime) {
    this.direct = direct;
    this.key = key;
    this.nanoTime = nanoTime;
    this.heart =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "store-lease");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Begins; when it returns, every later collection sees the lease.
   *
   * @param direct the store without retries, because a renewal is repeated anyway
   */
  static WriterLease begin(
      BlobStore blobs, BlobStore direct, String namespaceUid, String writer, LongSupplier nanoTime)
      throws StoreException {
    WriterLease lease =
        new WriterLease(direct, ChunkFormat.writers(namespaceUid) + writer, nanoTime);
    try {
      lease.beat(blobs);
      blobs.put(lease.key + BEGAN, new byte[0]);
    } catch (StoreException e) {
      lease.heart.shutdownNow();
      throw e;
    }
    var unused = lease.heart.scheduleWithFixedDelay(lease::beatQuietly, 1, 1, TimeUnit.MINUTES);
    return lease;
  }

  /** Fails when a collection may take this writer for gone soon. */
  void require() throws StoreException {
    if (silent()) {
      throw new StoreException.LeaseLost(
          "lease %s: expected a renewal within %s, got none".formatted(key, MOST_SILENCE));
    }
  }

  private boolean silent() {
    return nanoTime.getAsLong() - lastSign > MOST_SILENCE.toNanos();
  }

  private void beat(BlobStore blobs) throws StoreException {
    long before = nanoTime.getAsLong();
    blobs.put(key + ALIVE, new byte[0]);
    lastSign = before;
  }

  private void beatQuietly() {
    if (silent()) {
      // A late renewal would make a lost lease look valid.
      return;
    }
    try {
      beat(direct);
    } catch (StoreException e) {
      LOG.log(Level.WARNING, "Writer lease was not renewed: key=" + key, e);
    }
  }

  /** Ends. A lease that stays behind expires. */
  @Override
  public void close() {
    heart.shutdownNow();
    try {
      direct.delete(key + BEGAN);
      direct.delete(key + ALIVE);
    } catch (StoreException e) {
      LOG.log(Level.WARNING, "Writer lease is kept until it expires: key=" + key, e);
    }
  }
}
