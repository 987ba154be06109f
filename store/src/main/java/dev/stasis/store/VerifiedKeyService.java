package dev.stasis.store;

import java.util.Arrays;

/**
 * A KMS whose answers are verified. A key that it wraps has been unwrapped once before anything
 * depends on it: a store whose keys cannot be unwrapped is lost.
 */
record VerifiedKeyService(KeyService service) implements KeyService {

  @Override
  public String currentKeyId() throws StoreException {
    return service.currentKeyId();
  }

  @Override
  public WrappedKey wrap(byte[] key) throws StoreException {
    String expected = currentKeyId();
    WrappedKey wrapped = service.wrap(key);
    if (!wrapped.keyId().equals(expected)) {
      throw new StoreException.KmsKeyMismatch(
          "KMS plugin: expected to encrypt by its current key, got another key_id");
    }
    if (!Arrays.equals(unwrap(wrapped), key)) {
      throw new StoreException.WrongKey(
          "KMS plugin: expected it to decrypt what it has encrypted, got different bytes");
    }
    return wrapped;
  }

  @Override
  public byte[] unwrap(WrappedKey wrapped) throws StoreException {
    byte[] key = service.unwrap(wrapped);
    if (key.length != StoreKeys.KEY_BYTES) {
      throw new StoreException.WrongKey(
          "KMS plugin: expected a plaintext of %d bytes, got %d"
              .formatted(StoreKeys.KEY_BYTES, key.length));
    }
    return key;
  }
}
