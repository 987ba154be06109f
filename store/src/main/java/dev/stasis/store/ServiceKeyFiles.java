package dev.stasis.store;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.AEADBadTagException;

/**
 * Data keys that a KMS wraps: the KMS wraps a random key, which seals the data key. A KMS binds
 * nothing to what it wraps; the seal binds the data key to its namespace, its id and the answer of
 * the KMS, and detects a KMS that returns another key.
 *
 * @param service verified
 */
record ServiceKeyFiles(KeyService service, SecureRandom random) implements KeyFiles {
  static final int VERSION = 2;

  /** The file of a namespace: the data key, sealed by a key that the KMS wrapped. */
  record ServiceKeyFile(
      int formatVersion, String keyId, WrappedKey wrapped, String nonce, String key) {}

  @Override
  public byte[] write(String namespaceUid, NamespaceKey key) throws StoreException {
    byte[] wrapping = new byte[StoreKeys.KEY_BYTES];
    random.nextBytes(wrapping);
    WrappedKey wrapped = service.wrap(wrapping);
    byte[] nonce = new byte[Sealer.NONCE_BYTES];
    random.nextBytes(nonce);
    byte[] sealed =
        new Sealer(wrapping).seal(nonce, additional(namespaceUid, key.id(), wrapped), key.root());
    return RemoteManifest.json(
        new ServiceKeyFile(
            VERSION,
            key.id(),
            wrapped,
            HexFormat.of().formatHex(nonce),
            HexFormat.of().formatHex(sealed)));
  }

  @Override
  public boolean isCurrent(String namespaceUid, String keyId, byte[] bytes) throws StoreException {
    return file(namespaceUid, keyId, bytes).wrapped.keyId().equals(service.currentKeyId());
  }

  @Override
  public NamespaceKey read(String namespaceUid, String keyId, byte[] bytes) throws StoreException {
    ServiceKeyFile file = file(namespaceUid, keyId, bytes);
    byte[] nonce = KeyFiles.nonce(namespaceUid, keyId, file.nonce);
    byte[] sealed = KeyFiles.hex(namespaceUid, keyId, file.key);
    try {
      byte[] root =
          new Sealer(service.unwrap(file.wrapped))
              .open(nonce, additional(namespaceUid, keyId, file.wrapped), sealed);
      return KeyFiles.checked(namespaceUid, keyId, root);
    } catch (AEADBadTagException e) {
      throw new StoreException.WrongKey(
          "data key of namespace %s: expected the KMS to return the key that it wrapped, got another"
              .formatted(namespaceUid));
    }
  }

  private static ServiceKeyFile file(String namespaceUid, String keyId, byte[] bytes)
      throws StoreException {
    if (KeyFiles.version(namespaceUid, keyId, bytes) != VERSION) {
      throw notByService(namespaceUid, SecretKeyFiles.file(namespaceUid, keyId, bytes));
    }
    ServiceKeyFile file = KeyFiles.parse(namespaceUid, keyId, bytes, ServiceKeyFile.class);
    if (!file.keyId.equals(keyId)) {
      throw KeyFiles.damaged(namespaceUid, keyId, null);
    }
    KeyFiles.requireWritten(namespaceUid, keyId, bytes, file);
    return file;
  }

  private static StoreException notByService(String namespaceUid, SecretKeyFiles.KeyFile file) {
    return file.wraps().stream().anyMatch(wrap -> wrap.by().equals(SecretKeyFiles.CLEAR))
        ? SecretKeyFiles.notEncrypted(namespaceUid)
        : new StoreException.MissingKey(
            "data key of namespace %s: expected one that a KMS wrapped, got one by a Secret"
                .formatted(namespaceUid));
  }

  private static byte[] additional(String namespaceUid, String keyId, WrappedKey wrapped) {
    return "stasis data key 2\n%s\n%s\n%s"
        .formatted(
            namespaceUid, keyId, new String(RemoteManifest.json(wrapped), StandardCharsets.UTF_8))
        .getBytes(StandardCharsets.UTF_8);
  }
}
