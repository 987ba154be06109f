package dev.stasis.store;

import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
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
  /**
   * A verification of an artifact that lost many chunks must not read all indexes for each of them.
   */
  private static final long REREAD_EVERY = Duration.ofMinutes(1).toNanos();

  private final BlobStore blobs;
  private final NamespacePacks packs;
  private final NamespaceKey.Naming naming;
  private final List<ChunkRecord> chunks;
  private @Nullable Copies copies;
  private @Nullable Long lastReread;

  /**
   * @param chunks those that {@link #read} is called for
   */
  ChunkReader(BlobStore blobs, NamespacePacks packs, List<ChunkRecord> chunks) {
    this.blobs = blobs;
    this.packs = packs;
    this.chunks = chunks;
    this.naming = packs.key().naming();
  }

  /** What one thread reads chunks with: two arrays that hold each of them in turn. */
  static final class Buffers {
    private final BufferPool pool;
    private final byte[] sealed;
    private final byte[] opened;
    private final ChunkDecompressor decompressor = new ChunkDecompressor();

    private Buffers(BufferPool pool) {
      this.pool = pool;
      this.sealed = pool.take(ChunkFormat.BUFFER_BYTES);
      this.opened = pool.take(ChunkFormat.BUFFER_BYTES);
    }

    /** Gives the arrays back once nothing is read into them any more. */
    void release() {
      pool.give(sealed);
      pool.give(opened);
    }
  }

  /** Returns buffers for a thread, which releases them. */
  Buffers buffers() {
    return new Buffers(packs.pool());
  }

  /** Returns an array of the buffers that begins with the plain content of a chunk. */
  byte[] read(ChunkName name, Place place, int plain, Buffers buffers) throws IOException {
    try {
      return readAt(name, place, plain, buffers);
    } catch (StoreException.Damaged | StoreException.NotFound e) {
      Map<Place, StoreException> failures = new HashMap<>();
      failures.put(place, e);
      Copies known = copies();
      byte[] chunk = readCopy(known, name, plain, buffers, failures);
      if (chunk == null) {
        chunk = readCopy(newer(known, name, failures), name, plain, buffers, failures);
      }
      if (chunk != null) {
        return chunk;
      }
      failures.values().stream().filter(failure -> failure != e).forEach(e::addSuppressed);
      throw e;
    }
  }

  /** Returns null if every copy that was not tried before fails too; adds their failures. */
  private byte @Nullable [] readCopy(
      Copies from, ChunkName name, int plain, Buffers buffers, Map<Place, StoreException> failures)
      throws StoreException {
    for (Place copy : from.places(name)) {
      if (!failures.containsKey(copy)) {
        try {
          return readAt(name, copy, plain, buffers);
        } catch (StoreException.Damaged | StoreException.NotFound e) {
          failures.put(copy, e);
        }
      }
    }
    return null;
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
    byte[] chunk = buffers.decompressor.unpack(place.codec(), buffers.opened, size, sealed, plain);
    ChunkName actual = naming.name(chunk, plain);
    if (!actual.equals(name)) {
      throw new StoreException.Damaged(
          "pack %s at %d: expected chunk %s, got %s"
              .formatted(place.pack().fileName(), place.offset(), name, actual));
    }
    return chunk;
  }

  /** Reads them when the first chunk is not where it should be. */
  synchronized Copies copies() throws IOException {
    Copies found = copies;
    if (found == null) {
      long begun = System.nanoTime();
      Set<ChunkName> wanted = new HashSet<>();
      for (ChunkRecord chunk : chunks) {
        if (chunk.name() != null) {
          wanted.add(chunk.name());
        }
      }
      found = new Copies(packs.places(packs.all(), wanted), begun);
      copies = found;
    }
    return found;
  }

  /**
   * Returns the copies after those that were known have failed. They are read again if a collection
   * may have moved the chunk in the meantime: a pack that they list was deleted since, or the chunk
   * is not in any pack, because its pack was deleted while they were read.
   */
  private Copies newer(Copies known, ChunkName name, Map<Place, StoreException> failures)
      throws IOException {
    long failed = System.nanoTime();
    boolean gone = false;
    boolean listed = false;
    for (Map.Entry<Place, StoreException> failure : failures.entrySet()) {
      if (failure.getValue() instanceof StoreException.NotFound) {
        gone = true;
        listed |= known.places(name).contains(failure.getKey());
      }
    }
    return gone ? newer(failed, listed) : known;
  }

  private synchronized Copies newer(long failed, boolean listed) throws IOException {
    Copies found = copies();
    // Another thread may have read them since.
    boolean outdated = found.begun() - failed < 0;
    Long last = lastReread;
    if (outdated && (listed || last == null || System.nanoTime() - last >= REREAD_EVERY)) {
      copies = null;
      found = copies();
      lastReread = System.nanoTime();
    }
    return found;
  }

  /**
   * Where the chunks are.
   *
   * @param begun when their reading began
   */
  record Copies(Map<ChunkName, List<Place>> all, long begun) {
    List<Place> places(ChunkName name) {
      return all.getOrDefault(name, List.of());
    }
  }
}
