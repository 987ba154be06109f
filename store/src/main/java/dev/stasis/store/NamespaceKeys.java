package dev.stasis.store;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/** The data keys of namespaces as they lie in the store. */
record NamespaceKeys(BlobStore blobs, KeyFiles files, SecureRandom random) {

  /** The annotations of a KMS take up to 64 KiB in hexadecimal digits. */
  private static final int MOST_BYTES = 128 << 10;

  NamespaceKeys(BlobStore blobs, StoreKeys keys, SecureRandom random) {
    this(blobs, keys.files(random), random);
  }

  /** Returns a data key of a namespace; fails with NotFound. */
  NamespaceKey existing(String namespaceUid, String keyId) throws StoreException {
    return files.read(namespaceUid, keyId, read(namespaceUid, keyId));
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
    blobs.put(ChunkFormat.keyFile(namespaceUid, key.id()), files.write(namespaceUid, key));
    return existing(namespaceUid, ids(namespaceUid).get(0));
  }

  /**
   * Wraps the data keys with the current key only, so that the older keys are no longer needed.
   * Several agents may do so at once: the data key in a file never changes, so each of them writes
   * the same one, and the last write counts.
   *
   * @return whether anything had to be changed
   */
  boolean rewrap(String namespaceUid) throws StoreException {
    boolean changed = false;
    for (String keyId : ids(namespaceUid)) {
      byte[] file = read(namespaceUid, keyId);
      NamespaceKey key = files.read(namespaceUid, keyId, file);
      if (!files.isCurrent(namespaceUid, keyId, file)) {
        blobs.put(ChunkFormat.keyFile(namespaceUid, keyId), files.write(namespaceUid, key));
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

  private byte[] read(String namespaceUid, String keyId) throws StoreException {
    return BlobReader.whole(blobs, ChunkFormat.keyFile(namespaceUid, keyId), MOST_BYTES);
  }
}
