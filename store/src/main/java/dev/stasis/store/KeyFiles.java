package dev.stasis.store;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Writes and reads the files of data keys. What is read may be hostile. */
interface KeyFiles {

  /** Returns the file of a data key, wrapped by the current key. */
  byte[] write(String namespaceUid, NamespaceKey key) throws StoreException;

  /** Returns the data key in a file. */
  NamespaceKey read(String namespaceUid, String keyId, byte[] file) throws StoreException;

  /** Returns whether the current key alone wraps the data key. */
  boolean isCurrent(String namespaceUid, String keyId, byte[] file) throws StoreException;

  /** The version of a file, which decides about its other fields. */
  record FileVersion(int formatVersion) {}

  /** Returns the version of a file. */
  static int version(String namespaceUid, String keyId, byte[] file) throws StoreException {
    int version = parse(namespaceUid, keyId, file, FileVersion.class).formatVersion;
    if (version > ServiceKeyFiles.VERSION) {
      throw new StoreException.Newer(
          "%s: expected format %d, got %d"
              .formatted(
                  ChunkFormat.keyFile(namespaceUid, keyId), ServiceKeyFiles.VERSION, version));
    }
    if (version < 1) {
      throw damaged(namespaceUid, keyId, null);
    }
    return version;
  }

  static <T> T parse(String namespaceUid, String keyId, byte[] file, Class<T> type)
      throws StoreException {
    try {
      return RemoteManifest.parse(file, type);
    } catch (StoreException e) {
      throw e;
    } catch (IOException e) {
      throw damaged(namespaceUid, keyId, e);
    }
  }

  /** Refuses a file that is not, byte for byte, the one that is written for what was read. */
  static void requireWritten(String namespaceUid, String keyId, byte[] file, Object content)
      throws StoreException {
    if (!Arrays.equals(file, RemoteManifest.json(content))) {
      throw damaged(namespaceUid, keyId, null);
    }
  }

  /** The id is made of the key, so that a damaged key in clear is noticed here. */
  static NamespaceKey checked(String namespaceUid, String keyId, byte[] root)
      throws StoreException {
    // HMAC takes no empty key.
    if (root.length != StoreKeys.KEY_BYTES || !NamespaceKey.of(root).id().equals(keyId)) {
      throw damaged(namespaceUid, keyId, null);
    }
    return NamespaceKey.of(root);
  }

  static byte[] hex(String namespaceUid, String keyId, String text) throws StoreException {
    try {
      byte[] bytes = HexFormat.of().parseHex(text);
      // Digits in upper case would be the same bytes, but not those that were written.
      if (HexFormat.of().formatHex(bytes).equals(text)) {
        return bytes;
      }
      throw damaged(namespaceUid, keyId, null);
    } catch (IllegalArgumentException e) {
      throw damaged(namespaceUid, keyId, e);
    }
  }

  static byte[] nonce(String namespaceUid, String keyId, String text) throws StoreException {
    byte[] nonce = hex(namespaceUid, keyId, text);
    if (nonce.length != Sealer.NONCE_BYTES) {
      throw damaged(namespaceUid, keyId, null);
    }
    return nonce;
  }

  static StoreException damaged(String namespaceUid, String keyId, @Nullable Exception cause) {
    return new StoreException.Damaged(
        ChunkFormat.keyFile(namespaceUid, keyId)
            + ": expected the written bytes, got different ones",
        cause);
  }
}
