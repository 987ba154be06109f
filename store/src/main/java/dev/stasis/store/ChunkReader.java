package dev.stasis.store;

import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.crypto.AEADBadTagException;
import org.jspecify.annotations.Nullable;

/**
 * Reads chunks of a namespace and verifies each. Where a chunk is damaged or gone, every other copy
 * of it in the namespace is tried.
 */
final class ChunkReader {
  private final BlobStore blobs;
  private final NamespacePacks packs;
  private final NamespaceKey.Naming naming;
  private @Nullable Map<ChunkName, List<Place>> copies;

  ChunkReader(BlobStore blobs, NamespacePacks packs) {
    this.blobs = blobs;
    this.packs = packs;
    this.naming = packs.key().naming();
  }

  /** Returns the plain content of a chunk that is not zeros. */
  byte[] read(ChunkName name, Place place, int plain) throws IOException {
    try {
      return readAt(name, place, plain);
    } catch (StoreException.Damaged | StoreException.NotFound e) {
      for (Place copy : copies().getOrDefault(name, List.of())) {
        if (!copy.equals(place)) {
          try {
            return readAt(name, copy, plain);
          } catch (StoreException.Damaged | StoreException.NotFound again) {
            e.addSuppressed(again);
          }
        }
      }
      throw e;
    }
  }

  /** Reads one copy of a chunk. */
  byte[] readAt(ChunkName name, Place place, int plain) throws StoreException {
    byte[] sealed =
        blobs.get(place.pack().key(packs.namespaceUid()), place.offset(), place.stored());
    byte[] packed;
    try {
      packed =
          packs
              .key()
              .sealer(place.pack().writer())
              .open(place.nonce(), ChunkFormat.chunkAdditional(name, place.codec(), plain), sealed);
    } catch (AEADBadTagException e) {
      throw new StoreException.Damaged(
          "pack %s at %d: expected the written bytes, got different ones"
              .formatted(place.pack().fileName(), place.offset()));
    }
    byte[] chunk = ChunkCodec.unpack(place.codec(), packed, plain);
    ChunkName actual = naming.name(chunk, plain);
    if (!actual.equals(name)) {
      throw new StoreException.Damaged(
          "pack %s at %d: expected chunk %s, got %s"
              .formatted(place.pack().fileName(), place.offset(), name, actual));
    }
    return chunk;
  }

  /** Read once, when the first chunk is not where it should be. */
  private synchronized Map<ChunkName, List<Place>> copies() throws IOException {
    Map<ChunkName, List<Place>> found = copies;
    if (found == null) {
      Map<ChunkName, List<Place>> all = new ConcurrentHashMap<>();
      packs.read(
          packs.all(),
          (pack, chunks) -> {
            for (ChunkRecord chunk : chunks) {
              if (chunk.name() != null && chunk.place() != null) {
                all.computeIfAbsent(chunk.name(), n -> new CopyOnWriteArrayList<>())
                    .add(chunk.place());
              }
            }
          });
      found = all;
      copies = found;
    }
    return found;
  }
}
