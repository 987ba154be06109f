package dev.stasis.store;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A store whose calls fail on demand, each before or after its effect, and whose clock the test
 * moves. Closing it leaves the store below open.
 */
final class FaultyBlobs implements BlobStore {
  private final BlobStore blobs;
  private final AtomicInteger calls = new AtomicInteger();
  private final Map<String, Instant> modified = new HashMap<>();
  private volatile Fault fault = (call, key, effectDone) -> {};
  private volatile Duration ahead = Duration.ZERO;
  private volatile @Nullable UploadLimits limits;

  FaultyBlobs(BlobStore blobs) {
    this.blobs = blobs;
  }

  /** Decides whether a call fails. */
  interface Fault {
    /**
     * @param call counts from 0 since the fault was set
     * @param effectDone false before the effect of the call, true after it
     */
    void at(int call, String key, boolean effectDone) throws StoreException;
  }

  void fault(Fault next) {
    calls.set(0);
    fault = next;
  }

  /** Replaces the limits of the store below. */
  void limit(UploadLimits next) {
    limits = next;
  }

  /** What is written from now on is as much younger than what was written before. */
  void advance(Duration by) {
    ahead = ahead.plus(by);
  }

  private interface Call<T> {
    T run() throws StoreException;
  }

  private <T> T call(String key, Call<T> call) throws StoreException {
    int number = calls.getAndIncrement();
    fault.at(number, key, false);
    T result = call.run();
    fault.at(number, key, true);
    return result;
  }

  private synchronized void written(String key) throws StoreException {
    modified.put(key, blobs.stat(key).modified().plus(ahead));
  }

  private synchronized Blob aged(Blob blob) {
    return new Blob(blob.key(), blob.size(), modified.getOrDefault(blob.key(), blob.modified()));
  }

  @Override
  public Blob stat(String key) throws StoreException {
    return call(key, () -> aged(blobs.stat(key)));
  }

  @Override
  public void read(String key, long offset, byte[] bytes, int length) throws StoreException {
    var unused =
        call(
            key,
            () -> {
              blobs.read(key, offset, bytes, length);
              return true;
            });
  }

  @Override
  public boolean putIfAbsent(String key, byte[] bytes) throws StoreException {
    return call(
        key,
        () -> {
          boolean put = blobs.putIfAbsent(key, bytes);
          if (put) {
            written(key);
          }
          return put;
        });
  }

  @Override
  public void put(String key, byte[] bytes) throws StoreException {
    var unused =
        call(
            key,
            () -> {
              blobs.put(key, bytes);
              written(key);
              return true;
            });
  }

  @Override
  public UploadLimits uploadLimits() {
    UploadLimits replaced = limits;
    return replaced == null ? blobs.uploadLimits() : replaced;
  }

  @Override
  public BlobUpload upload(String key) throws StoreException {
    return call(key, () -> new FaultyUpload(key, blobs.upload(key)));
  }

  @Override
  public List<Blob> list(String prefix) throws StoreException {
    return call(prefix, () -> blobs.list(prefix).stream().map(this::aged).toList());
  }

  @Override
  public void delete(String key) throws StoreException {
    var unused =
        call(
            key,
            () -> {
              blobs.delete(key);
              return true;
            });
  }

  @Override
  public int deleteUnfinished(Instant before) throws StoreException {
    return call("", () -> blobs.deleteUnfinished(before.minus(ahead)));
  }

  @Override
  public void close() {}

  private final class FaultyUpload implements BlobUpload {
    private final String key;
    private final BlobUpload upload;

    FaultyUpload(String key, BlobUpload upload) {
      this.key = key;
      this.upload = upload;
    }

    @Override
    public void part(int number, ByteBuffer bytes) throws StoreException {
      var unused =
          call(
              key,
              () -> {
                upload.part(number, bytes);
                return true;
              });
    }

    @Override
    public void commit(int parts, long size) throws StoreException {
      var unused =
          call(
              key,
              () -> {
                upload.commit(parts, size);
                written(key);
                return true;
              });
    }

    @Override
    public void abort() throws StoreException {
      var unused =
          call(
              key,
              () -> {
                upload.abort();
                return true;
              });
    }
  }
}
