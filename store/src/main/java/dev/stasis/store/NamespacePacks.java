package dev.stasis.store;

import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The packs of a namespace.
 *
 * @param threads how many read them
 * @param pool has the arrays for their chunks
 */
record NamespacePacks(
    BlobStore blobs, String namespaceUid, NamespaceKey key, int threads, BufferPool pool) {
  private static final Logger LOG = System.getLogger(NamespacePacks.class.getName());

  /** Takes the records of packs, from several threads. */
  interface Taker {
    void take(Blob pack, List<ChunkRecord> chunks);
  }

  /** Returns all packs. */
  List<Blob> all() throws StoreException {
    return blobs.list(ChunkFormat.packs(namespaceUid)).stream()
        .filter(blob -> PackName.isValid(fileName(blob)))
        .toList();
  }

  /** Returns the file names of packs that a collection is about to delete. */
  Set<String> condemned() throws StoreException {
    return blobs.list(ChunkFormat.condemned(namespaceUid)).stream()
        .map(NamespacePacks::fileName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Keeps writers from referring to chunks of a pack from now on. */
  void condemn(String fileName) throws StoreException {
    blobs.putIfAbsent(ChunkFormat.condemned(namespaceUid) + fileName, new byte[0]);
  }

  /**
   * Reads the indexes of the packs of this data key. A pack that is damaged, or was deleted in the
   * meantime, is skipped: its chunks are unknown.
   */
  void read(List<Blob> packs, Taker taker) throws IOException {
    new ChunkWorkers(threads)
        .run(
            packs.size(),
            () ->
                number -> {
                  Blob pack = packs.get(number);
                  try {
                    taker.take(pack, PackIndex.read(blobs, pack, key));
                  } catch (StoreException.WrongKey e) {
                    LOG.log(Level.DEBUG, "Pack has another data key: pack=" + pack.key());
                  } catch (StoreException.NotFound e) {
                    LOG.log(Level.DEBUG, "Pack was deleted in the meantime: pack=" + pack.key());
                  } catch (StoreException.Damaged e) {
                    LOG.log(Level.WARNING, "Pack skipped: " + e.getMessage());
                  }
                });
  }

  /**
   * Returns where some chunks are in packs. Other chunks are not kept: a namespace may have more
   * than fit into memory.
   */
  Map<ChunkName, List<Place>> places(List<Blob> packs, Set<ChunkName> wanted) throws IOException {
    Map<ChunkName, List<Place>> places = new ConcurrentHashMap<>();
    read(
        packs,
        (pack, chunks) -> {
          for (ChunkRecord chunk : chunks) {
            ChunkName name = chunk.name();
            Place place = chunk.place();
            if (name != null && place != null && wanted.contains(name)) {
              places.merge(name, List.of(place), NamespacePacks::joined);
            }
          }
        });
    return places;
  }

  private static List<Place> joined(List<Place> some, List<Place> more) {
    return Stream.concat(some.stream(), more.stream()).toList();
  }

  static String fileName(Blob blob) {
    return blob.key().substring(blob.key().lastIndexOf('/') + 1);
  }
}
