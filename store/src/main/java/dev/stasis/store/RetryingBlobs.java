package dev.stasis.store;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Repeats calls that failed for a cause that passes, with growing waits, until a deadline. */
final class RetryingBlobs implements BlobStore {
  private static final Logger LOG = System.getLogger(RetryingBlobs.class.getName());
  private static final Duration FIRST_WAIT = Duration.ofMillis(200);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private final BlobStore blobs;
  private final Duration patience;
  private final LongSupplier nanoTime;
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * @param patience how long one call is repeated
   */
  RetryingBlobs(BlobStore blobs, Duration patience, LongSupplier nanoTime) {
    this.blobs = blobs;
    this.patience = patience;
    this.nanoTime = nanoTime;
  }

  /** A call to the store. */
  private interface Call<T> {
    T run() throws StoreException;
  }

  private <T> T repeated(Call<T> call) throws StoreException {
    long began = nanoTime.getAsLong();
    long wait = FIRST_WAIT.toNanos();
    while (true) {
      try {
        return call.run();
      } catch (StoreException e) {
        long left = patience.toNanos() - (nanoTime.getAsLong() - began);
        boolean repeatable = e.isTransient() && !(e instanceof StoreException.WriteLost);
        if (!repeatable || left <= 0 || Thread.currentThread().isInterrupted()) {
          throw e;
        }
        LOG.log(Level.INFO, "Retrying a call to a store: " + e.getMessage());
        await(e, Math.min(left, wait / 2 + ThreadLocalRandom.current().nextLong(wait / 2)));
        wait = Math.min(2 * wait, LONGEST_WAIT.toNanos());
      }
    }
  }

  private void await(StoreException failure, long nanos) throws StoreException {
    try {
      if (closed.await(nanos, TimeUnit.NANOSECONDS)) {
        throw failure;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure;
    }
  }

  @Override
  public Blob stat(String key) throws StoreException {
    return repeated(() -> blobs.stat(key));
  }

  @Override
  public void read(String key, long offset, byte[] bytes, int length) throws StoreException {
    repeated(
        () -> {
          blobs.read(key, offset, bytes, length);
          return true;
        });
  }

  @Override
  public boolean putIfAbsent(String key, byte[] bytes) throws StoreException {
    return repeated(() -> blobs.putIfAbsent(key, bytes));
  }

  @Override
  public void put(String key, byte[] bytes) throws StoreException {
    repeated(
        () -> {
          blobs.put(key, bytes);
          return true;
        });
  }

  @Override
  public UploadLimits uploadLimits() {
    return blobs.uploadLimits();
  }

  @Override
  public BlobUpload upload(String key) throws StoreException {
    return new Upload(repeated(() -> blobs.upload(key)));
  }

  @Override
  public List<Blob> list(String prefix) throws StoreException {
    return repeated(() -> blobs.list(prefix));
  }

  @Override
  public void delete(String key) throws StoreException {
    repeated(
        () -> {
          blobs.delete(key);
          return true;
        });
  }

  @Override
  public int deleteUnfinished(Instant before) throws StoreException {
    return repeated(() -> blobs.deleteUnfinished(before));
  }

  @Override
  public void close() {
    closed.countDown();
    blobs.close();
  }

  private final class Upload implements BlobUpload {
    private final BlobUpload upload;

    Upload(BlobUpload upload) {
      this.upload = upload;
    }

    @Override
    public void part(int number, ByteBuffer bytes) throws StoreException {
      repeated(
          () -> {
            upload.part(number, bytes.duplicate());
            return true;
          });
    }

    @Override
    public void commit(int parts, long size) throws StoreException {
      repeated(
          () -> {
            upload.commit(parts, size);
            return true;
          });
    }

    /** Is not retried: it only cleans up after a failure, which a garbage collection also does. */
    @Override
    public void abort() throws StoreException {
      upload.abort();
    }
  }
}
