package dev.stasis.store;

/** A key management service (KMS): it wraps keys by a key that never leaves it. */
public interface KeyService {

  /**
   * Returns the ID of the key that the service wraps with at present.
   *
   * @throws StoreException if the service cannot wrap at present, or wraps with an unexpected key
   */
  String currentKeyId() throws StoreException;

  /** Wraps a key. */
  WrappedKey wrap(byte[] key) throws StoreException;

  /** Returns the key that was wrapped. */
  byte[] unwrap(WrappedKey wrapped) throws StoreException;
}
