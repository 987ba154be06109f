package dev.stasis.store;

import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Moves chunks out of packs that are to be deleted, unless a whole copy of them is elsewhere. */
final class ChunkMover {
  private final NamespacePacks packs;
  private final Compression compression;
  private final String writer;
  private final Map<ChunkName, List<Place>> copies;
  private final ChunkReader reader;
  private final ChunkReader.Buffers buffers;
  private final Set<ChunkName> moved = new HashSet<>();
  private long movedBytes;

  /**
   * @param writer a random name that nothing was written under yet; packs with it are replaced
   */
  ChunkMover(
      BlobStore blobs,
      NamespacePacks packs,
      Compression compression,
      String writer,
      Map<ChunkName, List<Place>> copies) {
    this.packs = packs;
    this.compression = compression;
    this.writer = writer;
    this.copies = copies;
    this.reader = new ChunkReader(blobs, packs, List.of());
    this.buffers = reader.buffers();
  }

  long movedBytes() {
    return movedBytes;
  }

  /**
   * Moves the chunks of packs; called once.
   *
   * @return the packs with a chunk that is intact neither there nor elsewhere
   */
  Set<String> move(Map<String, List<ChunkRecord>> leaving) throws IOException {
    Set<String> kept = new TreeSet<>();
    try (ChunkCodec codec = new ChunkCodec(compression, packs.pool());
        PackWriter target = new PackWriter(packs, writer)) {
      for (Map.Entry<String, List<ChunkRecord>> pack : leaving.entrySet()) {
        for (ChunkRecord chunk : pack.getValue()) {
          if (chunk.name() != null
              && chunk.place() != null
              && !moved.contains(chunk.name())
              && !copied(chunk.name(), chunk.plain())
              && !move(chunk.name(), chunk.place(), chunk.plain(), codec, target)) {
            kept.add(pack.getKey());
          }
        }
      }
      target.finish();
    } finally {
      buffers.release();
    }
    return kept;
  }

  private boolean copied(ChunkName name, int plain) throws StoreException {
    for (Place copy : copies.getOrDefault(name, List.of())) {
      try {
        var unused = reader.readAt(name, copy, plain, buffers);
        return true;
      } catch (StoreException.Damaged | StoreException.NotFound e) {
        // The next copy, or the chunk itself.
      }
    }
    return false;
  }

  private boolean move(ChunkName name, Place place, int plain, ChunkCodec codec, PackWriter target)
      throws IOException {
    byte[] chunk;
    try {
      chunk = reader.readAt(name, place, plain, buffers);
    } catch (StoreException.Damaged | StoreException.NotFound e) {
      return false;
    }
    Place copy = target.append(name, plain, codec.pack(chunk, plain));
    moved.add(name);
    movedBytes += copy.stored();
    return true;
  }
}
