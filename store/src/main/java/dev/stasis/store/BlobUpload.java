package dev.stasis.store;

import java.nio.ByteBuffer;

/** A large blob while it is being written. Its parts may be written by several threads at once. */
public interface BlobUpload {

  /**
   * Writes a part. Writing it again replaces it.
   *
   * @param number from 0 on; every part but the last is {@link UploadLimits#partBytes} long
   * @param bytes in an array; they must not change until this returns
   */
  void part(int number, ByteBuffer bytes) throws StoreException;

  /** Makes the blob of all parts visible and durable; may be repeated. */
  void commit(int parts, long size) throws StoreException;

  /** Drops what was written. Does nothing after a commit. */
  void abort() throws StoreException;
}
