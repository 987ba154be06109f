package dev.stasis.store;

import java.time.Instant;
import java.util.List;

/**
 * A store with one blob, which cannot be written to.
 *
 * @param bytes the content
 */
record OneBlob(String key, byte[] bytes) implements BlobStore {

  Blob blob() {
    return new Blob(key, bytes.length, Instant.EPOCH);
  }

  @Override
  public Blob stat(String wanted) throws StoreException {
    if (!wanted.equals(key)) {
      throw new StoreException.NotFound(wanted, null);
    }
    return blob();
  }

  @Override
  public void read(String wanted, long offset, byte[] to, int length) throws StoreException {
    Blob found = stat(wanted);
    if (offset < 0 || length < 0 || offset > found.size() - length) {
      throw new StoreException.Damaged(
          "expected %d bytes from %d on, got %d bytes".formatted(length, offset, found.size()));
    }
    System.arraycopy(bytes, (int) offset, to, 0, length);
  }

  @Override
  public boolean putIfAbsent(String other, byte[] written) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void put(String other, byte[] written) {
    throw new UnsupportedOperationException();
  }

  @Override
  public UploadLimits uploadLimits() {
    throw new UnsupportedOperationException();
  }

  @Override
  public BlobUpload upload(String other) {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<Blob> list(String prefix) {
    return key.startsWith(prefix) ? List.of(blob()) : List.of();
  }

  @Override
  public void delete(String other) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int deleteUnfinished(Instant before) {
    return 0;
  }

  @Override
  public void close() {}
}
