package dev.stasis.store;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;

/**
 * Blobs of a volume that can be unmounted at any time. A call counts only if the volume was mounted
 * before and after it: what its path named in between may have been another folder, in which
 * nothing is missing and nothing is stored.
 */
public final class MountedBlobs implements BlobStore {

  private final BlobStore blobs;
  private final Mount mount;

  /**
   * @param blobs blobs below the path of the mount
   * @param mount the mount; once it has ended, it must stay ended
   */
  public MountedBlobs(BlobStore blobs, Mount mount) {
    this.blobs = blobs;
    this.mount = mount;
  }

  /** The mount of a volume. */
  public interface Mount {
    /** Fails if the volume is not mounted any more. */
    void require() throws StoreException;
  }

  private interface Call<T> {
    T run() throws StoreException;
  }

  private interface Write {
    void run() throws StoreException;
  }

  private <T> T mounted(Call<T> call) throws StoreException {
    mount.require();
    try {
      return call.run();
    } finally {
      // Replaces a failure of the call, too: without the mount it says nothing about the blob.
      mount.require();
    }
  }

  private void written(Write write) throws StoreException {
    var unused =
        mounted(
            () -> {
              write.run();
              return true;
            });
  }

  @Override
  public Blob stat(String key) throws StoreException {
    return mounted(() -> blobs.stat(key));
  }

  @Override
  public void read(String key, long offset, byte[] bytes, int length) throws StoreException {
    var unused =
        mounted(
            () -> {
              blobs.read(key, offset, bytes, length);
              return true;
            });
  }

  @Override
  public boolean putIfAbsent(String key, byte[] bytes) throws StoreException {
    return mounted(() -> blobs.putIfAbsent(key, bytes));
  }

  @Override
  public void put(String key, byte[] bytes) throws StoreException {
    written(() -> blobs.put(key, bytes));
  }

  @Override
  public UploadLimits uploadLimits() {
    return blobs.uploadLimits();
  }

  @Override
  public BlobUpload upload(String key) throws StoreException {
    BlobUpload upload = mounted(() -> blobs.upload(key));
    return new BlobUpload() {
      @Override
      public void part(int number, ByteBuffer bytes) throws StoreException {
        written(() -> upload.part(number, bytes));
      }

      @Override
      public void commit(int parts, long size) throws StoreException {
        written(() -> upload.commit(parts, size));
      }

      @Override
      public void abort() throws StoreException {
        // Without the mount there is still an open file, which would keep the volume busy.
        upload.abort();
      }
    };
  }

  @Override
  public List<Blob> list(String prefix) throws StoreException {
    return mounted(() -> blobs.list(prefix));
  }

  @Override
  public void delete(String key) throws StoreException {
    written(() -> blobs.delete(key));
  }

  @Override
  public int deleteUnfinished(Instant before) throws StoreException {
    return mounted(() -> blobs.deleteUnfinished(before));
  }

  @Override
  public void close() {
    blobs.close();
  }
}
