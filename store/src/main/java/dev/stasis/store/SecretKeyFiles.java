package dev.stasis.store;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import javax.crypto.AEADBadTagException;
import org.jspecify.annotations.Nullable;

/** Data keys that keys of a Secret wrap, or in clear where the store is not encrypted. */
record SecretKeyFiles(StoreKeys keys, SecureRandom random) implements KeyFiles {
  /** Replaces the name of the wrapping key if the data key is not encrypted. */
  static final String CLEAR = "";

  /** The file of a namespace. */
  record KeyFile(int formatVersion, String keyId, List<Wrap> wraps) {}

  /** The data key, wrapped by one key. */
  record Wrap(String by, String nonce, String key) {}

  @Override
  public byte[] write(String namespaceUid, NamespaceKey key) {
    return RemoteManifest.json(
        new KeyFile(ChunkFormat.VERSION, key.id(), List.of(wrap(namespaceUid, key))));
  }

  @Override
  public boolean isCurrent(String namespaceUid, String keyId, byte[] bytes) throws StoreException {
    KeyFile file = file(namespaceUid, keyId, bytes);
    return file.wraps.size() == 1 && file.wraps.get(0).by.equals(currentName());
  }

  private String currentName() {
    String current = keys.current();
    return current == null ? CLEAR : current;
  }

  private Wrap wrap(String namespaceUid, NamespaceKey key) {
    String by = currentName();
    byte @Nullable [] wrapping = keys.key(by);
    if (wrapping == null) {
      return new Wrap(CLEAR, "", HexFormat.of().formatHex(key.root()));
    }
    // Random: one key wraps the data keys of few namespaces, far fewer than 2^32.
    byte[] nonce = new byte[Sealer.NONCE_BYTES];
    random.nextBytes(nonce);
    byte[] sealed =
        new Sealer(wrapping).seal(nonce, additional(namespaceUid, key.id(), by), key.root());
    return new Wrap(by, HexFormat.of().formatHex(nonce), HexFormat.of().formatHex(sealed));
  }

  /** Returns the content of a file. */
  static KeyFile file(String namespaceUid, String keyId, byte[] bytes) throws StoreException {
    if (KeyFiles.version(namespaceUid, keyId, bytes) != ChunkFormat.VERSION) {
      throw new StoreException.MissingKey(
          "data key of namespace %s: expected one that is wrapped by a Secret, got one by a KMS"
              .formatted(namespaceUid));
    }
    KeyFile file = KeyFiles.parse(namespaceUid, keyId, bytes, KeyFile.class);
    if (!file.wraps.stream().allMatch(Objects::nonNull) || !file.keyId.equals(keyId)) {
      throw KeyFiles.damaged(namespaceUid, keyId, null);
    }
    KeyFiles.requireWritten(namespaceUid, keyId, bytes, file);
    return file;
  }

  @Override
  public NamespaceKey read(String namespaceUid, String keyId, byte[] bytes) throws StoreException {
    List<String> by = new ArrayList<>();
    String refused = null;
    for (Wrap wrap : file(namespaceUid, keyId, bytes).wraps) {
      byte @Nullable [] wrapping = keys.key(wrap.by);
      if (wrap.by.equals(CLEAR)) {
        return clear(namespaceUid, keyId, wrap);
      }
      by.add(wrap.by);
      if (wrapping != null) {
        try {
          byte[] root =
              new Sealer(wrapping)
                  .open(
                      KeyFiles.nonce(namespaceUid, keyId, wrap.nonce),
                      additional(namespaceUid, keyId, wrap.by),
                      KeyFiles.hex(namespaceUid, keyId, wrap.key));
          return KeyFiles.checked(namespaceUid, keyId, root);
        } catch (AEADBadTagException e) {
          refused = wrap.by;
        }
      }
    }
    if (refused != null) {
      throw new StoreException.WrongKey(
          ("data key of namespace %s: expected key %s to decrypt it, got a different key with"
                  + " that name")
              .formatted(namespaceUid, refused));
    }
    throw new StoreException.MissingKey(
        "data key of namespace %s: expected one of the keys %s, got %s"
            .formatted(namespaceUid, by, keys.names()));
  }

  private NamespaceKey clear(String namespaceUid, String keyId, Wrap wrap) throws StoreException {
    if (keys.encrypted()) {
      throw notEncrypted(namespaceUid);
    }
    return KeyFiles.checked(namespaceUid, keyId, KeyFiles.hex(namespaceUid, keyId, wrap.key));
  }

  static StoreException notEncrypted(String namespaceUid) {
    return new StoreException.NotEncrypted(
        "data key of namespace %s: expected an encrypted key, got a plain one"
            .formatted(namespaceUid));
  }

  private static byte[] additional(String namespaceUid, String keyId, String by) {
    return "stasis data key 1\n%s\n%s\n%s"
        .formatted(namespaceUid, keyId, by)
        .getBytes(StandardCharsets.UTF_8);
  }
}
