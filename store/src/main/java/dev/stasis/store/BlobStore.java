package dev.stasis.store;

import java.time.Instant;
import java.util.List;

/**
 * Named immutable byte sequences: a folder or a bucket. A blob is visible only once it is whole and
 * durable, and every call sees the calls that returned before it. Keys are relative paths whose
 * segments consist of letters, digits, '.', '_' and '-'. For several threads at once.
 */
public interface BlobStore extends AutoCloseable {

  /** Returns size and time of a blob; fails with NotFound. */
  Blob stat(String key) throws StoreException;

  /**
   * Reads {@code length} bytes from {@code offset} on to the start of an array. Fails with NotFound
   * if the blob does not exist, and with Damaged if it ends before. After a failure the content of
   * the array is undefined.
   */
  void read(String key, long offset, byte[] bytes, int length) throws StoreException;

  /** Returns {@code length} bytes from {@code offset} on; fails as {@link #read} does. */
  default byte[] get(String key, long offset, int length) throws StoreException {
    byte[] bytes = new byte[length];
    read(key, offset, bytes, length);
    return bytes;
  }

  /** Writes a small blob unless one of that name exists; returns whether it was written. */
  boolean putIfAbsent(String key, byte[] bytes) throws StoreException;

  /** Writes a small blob in place of the one that exists. */
  void put(String key, byte[] bytes) throws StoreException;

  /** Returns how {@link #upload} takes large blobs. */
  UploadLimits uploadLimits();

  /** Begins a large blob. No other writer may use its key. */
  BlobUpload upload(String key) throws StoreException;

  /** Returns all blobs whose keys begin so, in order. The prefix is empty or ends with '/'. */
  List<Blob> list(String prefix) throws StoreException;

  /** Deletes a blob; one that does not exist is fine. */
  void delete(String key) throws StoreException;

  /** Deletes uploads that were begun before and never ended; returns how many. */
  int deleteUnfinished(Instant before) throws StoreException;

  @Override
  void close();
}
