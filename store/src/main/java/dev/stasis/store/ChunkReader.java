package dev.stasis.store;

import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  private final List<ChunkRecord> chunks;
  private @Nullable Map<ChunkName, List<Place>> copies;

  /**
   * @param chunks those that {@link #read} is called for
   */
  ChunkReader(BlobStore blobs, NamespacePacks packs, List<ChunkRecord> chunks) {
    this.blobs = blobs;
    this.packs = packs;
    this.chunks = chunks;
    this.naming = packs.key().naming();
  }

  /** Two arrays that hold each chunk of one thread in turn. */
  static final class Buffers {
    private final byte[] sealed = new byte[Sealer.sealedBytes(ChunkFormat.CHUNK_BYTES)];
    private final byte[] opened = new byte[ChunkFormat.CHUNK_BYTES];
  }

  /** Returns an array of the buffers that begins with the plain content of a chunk. */
  byte[] read(ChunkName name, Place place, int plain, Buffers buffers) throws IOException {
    try {
      return readAt(name, place, plain, buffers);
    } catch (StoreException.Damaged | StoreException.NotFound e) {
      for (Place copy : copies().getOrDefault(name, List.of())) {
        if (!copy.equals(place)) {
          try {
            return readAt(name, copy, plain, buffers);
          } catch (StoreException.Damaged | StoreException.NotFound again) {
            e.addSuppressed(again);
          }
        }
      }
      throw e;
    }
  }

  /** Reads one copy of a chunk, as {@link #read} returns it. */
  byte[] readAt(ChunkName name, Place place, int plain, Buffers buffers) throws StoreException {
    byte[] sealed = buffers.sealed;
    blobs.read(place.pack().key(packs.namespaceUid()), place.offset(), sealed, place.stored());
    int size;
    try {
      size =
          packs
              .key()
              .sealer(place.pack().writer())
              .open(
                  place.nonce(),
                  ChunkFormat.chunkAdditional(name, place.codec(), plain),
                  sealed,
                  place.stored(),
                  buffers.opened);
    } catch (AEADBadTagException e) {
      throw new StoreException.Damaged(
          "pack %s at %d: expected the written bytes, got different ones"
              .formatted(place.pack().fileName(), place.offset()));
    }
    // The sealed bytes are not needed any more.
    byte[] chunk = ChunkCodec.unpack(place.codec(), buffers.opened, size, sealed, plain);
    ChunkName actual = naming.name(chunk, plain);
    if (!actual.equals(name)) {
      throw new StoreException.Damaged(
          "pack %s at %d: expected chunk %s, got %s"
              .formatted(place.pack().fileName(), place.offset(), name, actual));
    }
    return chunk;
  }

  /** Read once, when the first chunk is not where it should be. */
  synchronized Map<ChunkName, List<Place>> copies() throws IOException {
    Map<ChunkName, List<Place>> found = copies;
    if (found == null) {
      Set<ChunkName> wanted = new HashSet<>();
      for (ChunkRecord chunk : chunks) {
        if (chunk.name() != null) {
          wanted.add(chunk.name());
        }
      }
      found = packs.places(packs.all(), wanted);
      copies = found;
    }
    return found;
  }
}
