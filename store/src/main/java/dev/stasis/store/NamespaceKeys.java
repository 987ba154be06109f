package dev.stasis.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import javax.crypto.AEADBadTagException;
import org.jspecify.annotations.Nullable;

/**
 * The data keys of namespaces as they lie in the store: wrapped by one or several keys of a Secret,
 * or in clear where the store is not encrypted.
 */
record NamespaceKeys(BlobStore blobs, StoreKeys keys, SecureRandom random) {
  /** Replaces the name of the wrapping key if the data key is not encrypted. */
  private static final String CLEAR = "";

  private static final int MOST_BYTES = 64 << 10;

  /** The file of a namespace. */
  record KeyFile(int formatVersion, String keyId, List<Wrap> wraps) {}

  /** The data key, wrapped by one key. */
  record Wrap(String by, String nonce, String key) {}

  /** Returns a data key of a namespace; fails with NotFound. */
  NamespaceKey existing(String namespaceUid, String keyId) throws StoreException {
    return unwrap(namespaceUid, read(namespaceUid, keyId));
  }

  /** Returns all data keys of a namespace. */
  List<NamespaceKey> all(String namespaceUid) throws StoreException {
    List<NamespaceKey> all = new ArrayList<>();
    for (String keyId : ids(namespaceUid)) {
      all.add(existing(namespaceUid, keyId));
    }
    return all;
  }

  /**
   * Returns the data key that new chunks of a namespace are sealed with, and makes one where there
   * is none yet. Two agents that do so at once make two keys; both count, and the first by name is
   * used from then on.
   */
  NamespaceKey orNew(String namespaceUid) throws StoreException {
    List<String> ids = ids(namespaceUid);
    if (!ids.isEmpty()) {
      return existing(namespaceUid, ids.get(0));
    }
    byte[] root = new byte[StoreKeys.KEY_BYTES];
    random.nextBytes(root);
    NamespaceKey key = NamespaceKey.of(root);
    blobs.put(ChunkFormat.keyFile(namespaceUid, key.id()), wrapped(namespaceUid, key));
    return existing(namespaceUid, ids(namespaceUid).get(0));
  }

  /**
   * Wraps the data keys with the current key only, so that the older keys are no longer needed.
   *
   * @return whether anything had to be changed
   */
  boolean rewrap(String namespaceUid) throws StoreException {
    boolean changed = false;
    for (String keyId : ids(namespaceUid)) {
      KeyFile file = read(namespaceUid, keyId);
      NamespaceKey key = unwrap(namespaceUid, file);
      if (file.wraps.size() != 1 || !file.wraps.get(0).by.equals(currentName())) {
        blobs.put(ChunkFormat.keyFile(namespaceUid, keyId), wrapped(namespaceUid, key));
        changed = true;
      }
    }
    return changed;
  }

  private List<String> ids(String namespaceUid) throws StoreException {
    return blobs.list(ChunkFormat.keyFiles(namespaceUid)).stream()
        .map(NamespacePacks::fileName)
        .filter(name -> name.endsWith(ChunkFormat.KEY_FILE))
        .map(name -> name.substring(0, name.length() - ChunkFormat.KEY_FILE.length()))
        .toList();
  }

  private byte[] wrapped(String namespaceUid, NamespaceKey key) {
    return RemoteManifest.json(
        new KeyFile(ChunkFormat.VERSION, key.id(), List.of(wrap(namespaceUid, key))));
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

  private KeyFile read(String namespaceUid, String keyId) throws StoreException {
    String key = ChunkFormat.keyFile(namespaceUid, keyId);
    byte[] bytes = BlobReader.whole(blobs, key, MOST_BYTES);
    try {
      KeyFile file = RemoteManifest.parse(bytes, KeyFile.class);
      if (file.formatVersion > ChunkFormat.VERSION) {
        throw new StoreException.Newer(
            "%s: expected format %d, got %d"
                .formatted(key, ChunkFormat.VERSION, file.formatVersion));
      }
      if (file.formatVersion < 1
          || !file.wraps.stream().allMatch(Objects::nonNull)
          || !file.keyId.equals(keyId)
          || !Arrays.equals(bytes, RemoteManifest.json(file))) {
        throw damaged(key, null);
      }
      return file;
    } catch (StoreException e) {
      throw e;
    } catch (IOException e) {
      throw damaged(key, e);
    }
  }

  private NamespaceKey unwrap(String namespaceUid, KeyFile file) throws StoreException {
    List<String> by = new ArrayList<>();
    String refused = null;
    for (Wrap wrap : file.wraps) {
      byte @Nullable [] wrapping = keys.key(wrap.by);
      if (wrap.by.equals(CLEAR)) {
        return clear(namespaceUid, file, wrap);
      }
      by.add(wrap.by);
      if (wrapping != null) {
        try {
          byte[] nonce = hex(namespaceUid, file, wrap.nonce);
          if (nonce.length != Sealer.NONCE_BYTES) {
            throw damaged(ChunkFormat.keyFile(namespaceUid, file.keyId), null);
          }
          byte[] root =
              new Sealer(wrapping)
                  .open(
                      nonce,
                      additional(namespaceUid, file.keyId, wrap.by),
                      hex(namespaceUid, file, wrap.key));
          return checked(namespaceUid, file, root);
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

  private NamespaceKey clear(String namespaceUid, KeyFile file, Wrap wrap) throws StoreException {
    if (keys.encrypted()) {
      throw new StoreException.NotEncrypted(
          "data key of namespace %s: expected an encrypted key, got a plain one"
              .formatted(namespaceUid));
    }
    return checked(namespaceUid, file, hex(namespaceUid, file, wrap.key));
  }

  /** The id is made of the key, so that a damaged key in clear is noticed here. */
  private static NamespaceKey checked(String namespaceUid, KeyFile file, byte[] root)
      throws StoreException {
    // HMAC takes no empty key.
    if (root.length != StoreKeys.KEY_BYTES || !NamespaceKey.of(root).id().equals(file.keyId)) {
      throw damaged(ChunkFormat.keyFile(namespaceUid, file.keyId), null);
    }
    return NamespaceKey.of(root);
  }

  private static byte[] hex(String namespaceUid, KeyFile file, String text) throws StoreException {
    try {
      byte[] bytes = HexFormat.of().parseHex(text);
      // Digits in upper case would be the same bytes, but not those that were written.
      if (HexFormat.of().formatHex(bytes).equals(text)) {
        return bytes;
      }
      throw damaged(ChunkFormat.keyFile(namespaceUid, file.keyId), null);
    } catch (IllegalArgumentException e) {
      throw damaged(ChunkFormat.keyFile(namespaceUid, file.keyId), e);
    }
  }

  private static StoreException damaged(String key, @Nullable Exception cause) {
    return new StoreException.Damaged(
        key + ": expected the written bytes, got different ones", cause);
  }

  private static byte[] additional(String namespaceUid, String keyId, String by) {
    return "stasis data key 1\n%s\n%s\n%s"
        .formatted(namespaceUid, keyId, by)
        .getBytes(StandardCharsets.UTF_8);
  }
}
