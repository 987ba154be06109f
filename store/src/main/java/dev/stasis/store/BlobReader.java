package dev.stasis.store;

/** Reads blobs that have to lie in memory as a whole. */
final class BlobReader {
  private BlobReader() {}

  /** Returns a blob; one of more than {@code most} bytes is damaged. */
  static byte[] whole(BlobStore blobs, String key, int most) throws StoreException {
    Blob blob = blobs.stat(key);
    if (blob.size() > most) {
      throw new StoreException.Damaged(
          "size of %s: expected at most %d bytes, got %d".formatted(key, most, blob.size()));
    }
    return blobs.get(key, 0, (int) blob.size());
  }
}
