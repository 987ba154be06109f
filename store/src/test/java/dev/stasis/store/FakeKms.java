package dev.stasis.store;

import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.AEADBadTagException;
import org.jspecify.annotations.Nullable;

/** A KMS in memory, with keys by their IDs. What it answers can be falsified. */
final class FakeKms implements KeyService {
  private static final byte[] NONCE = new byte[Sealer.NONCE_BYTES];
  private static final String ANNOTATION = "version.kms.example.com";

  private final Map<String, byte[]> keys = new TreeMap<>();
  private String current = "";

  /** What it answers to Encrypt instead; null: the truth. */
  @Nullable WrappedKey lie;

  /** Whether it does not answer. */
  boolean away;

  FakeKms() {
    rotate("2026", 1);
  }

  /** Makes a key the current one. */
  void rotate(String keyId, int seed) {
    keys.put(keyId, SampleFolders.key(seed));
    current = keyId;
  }

  /** Destroys a key. */
  void forget(String keyId) {
    keys.remove(keyId);
  }

  @Override
  public String currentKeyId() throws StoreException {
    requireHere();
    return current;
  }

  @Override
  public WrappedKey wrap(byte[] key) throws StoreException {
    requireHere();
    if (lie != null) {
      return lie;
    }
    byte[] sealed = sealer(current).seal(NONCE, ChunkFormat.ascii(current), key);
    return new WrappedKey(
        current, HexFormat.of().formatHex(sealed), new TreeMap<>(Map.of(ANNOTATION, "01")));
  }

  @Override
  public byte[] unwrap(WrappedKey wrapped) throws StoreException {
    requireHere();
    try {
      return sealer(wrapped.keyId())
          .open(
              NONCE,
              ChunkFormat.ascii(wrapped.keyId()),
              HexFormat.of().parseHex(wrapped.ciphertext()));
    } catch (AEADBadTagException e) {
      throw new StoreException.WrongKey("not decrypted");
    }
  }

  private Sealer sealer(String keyId) throws StoreException {
    byte @Nullable [] key = keys.get(keyId);
    if (key == null) {
      throw new StoreException.MissingKey("no key " + keyId);
    }
    return new Sealer(key);
  }

  private void requireHere() throws StoreException {
    if (away) {
      throw new StoreException.KmsUnreachable("no answer", null);
    }
  }
}
