package dev.stasis.store;

import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * One garbage collection of a namespace. A pack that is mostly unused is condemned: writers that
 * begin later do not refer to it. A later run moves what is still used out of it and deletes it,
 * once no writer is left that began before. Condemned packs are never used again, so that two
 * collections at once, or one that is killed at any step, cannot delete a chunk that is needed. All
 * times are the store's own.
 */
final class GarbageCollection {
  /** Packs younger than this stay: their manifest may be on its way. */
  private static final Duration MIN_AGE = Duration.ofHours(24);

  /** Longer than a fetch that has looked up its chunks before; and a margin for times of leases. */
  private static final Duration GRACE = Duration.ofHours(1);

  /** Condemned below this share of live bytes: moving them costs less than the space. */
  private static final int MIN_LIVE_PERCENT = 30;

  private static final Logger LOG = System.getLogger(GarbageCollection.class.getName());

  private final BlobStore blobs;
  private final NamespaceKeys keys;
  private final String namespaceUid;
  private final Compression compression;
  private final int threads;
  private final BufferPool pool;
  private final Supplier<String> writers;

  private final List<String> problems = new ArrayList<>();
  private int condemnedNow;
  private int deleted;
  private int waiting;
  private long freedBytes;
  private final AtomicLong movedBytes = new AtomicLong();

  /**
   * @param writers returns a new random name each time. Each data key's chunks are moved under a
   *     name of their own, because packs are numbered from 0 under each name
   */
  GarbageCollection(
      BlobStore blobs,
      NamespaceKeys keys,
      String namespaceUid,
      Compression compression,
      int threads,
      BufferPool pool,
      Supplier<String> writers) {
    this.blobs = blobs;
    this.keys = keys;
    this.namespaceUid = namespaceUid;
    this.compression = compression;
    this.threads = threads;
    this.pool = pool;
    this.writers = writers;
  }

  CollectReport run() throws IOException {
    Instant now = storeTime();
    deleteUnfinished(now);
    Map<String, Instant> condemned = new TreeMap<>();
    for (Blob mark : blobs.list(ChunkFormat.condemned(namespaceUid))) {
      condemned.put(NamespacePacks.fileName(mark), mark.modified());
    }
    // Leases before manifests: a writer whose lease is gone has written its manifest already.
    Instant oldestWriter = oldestWriter(now);
    List<NamespaceKey> all = keys.all(namespaceUid);
    Map<String, ChunkNames> live = liveChunks(all);
    int packs = 0;
    if (problems.isEmpty()) {
      Set<String> read = new TreeSet<>();
      for (NamespaceKey key : all) {
        ChunkNames names = live.getOrDefault(key.id(), new ChunkNames());
        collect(key, names, condemned, oldestWriter, now, read);
      }
      packs = reportUnread(read);
    }
    return new CollectReport(
        namespaceUid,
        packs,
        condemnedNow,
        deleted,
        freedBytes,
        movedBytes.get(),
        waiting,
        List.copyOf(problems));
  }

  /** An access key may lack the rights to do so, which the rest does not need. */
  private void deleteUnfinished(Instant now) {
    try {
      blobs.deleteUnfinished(now.minus(MIN_AGE));
    } catch (StoreException e) {
      LOG.log(
          Level.WARNING,
          "Unfinished uploads not deleted: reason={0} message={1}",
          e.reason(),
          e.getMessage());
    }
  }

  /** The store's clock, for the times of its blobs are of that one. */
  private Instant storeTime() throws StoreException {
    String key = ChunkFormat.namespaceFolder(namespaceUid) + "time/" + writers.get();
    blobs.put(key, new byte[0]);
    Instant now = blobs.stat(key).modified();
    blobs.delete(key);
    return now;
  }

  /** Returns when the oldest active writer began, and deletes leases that expired. */
  private Instant oldestWriter(Instant now) throws StoreException {
    Map<String, Instant> began = new HashMap<>();
    Map<String, Instant> signs = new HashMap<>();
    for (Blob blob : blobs.list(ChunkFormat.writers(namespaceUid))) {
      String name = blob.key().substring(0, Math.max(0, blob.key().lastIndexOf('.')));
      signs.merge(name, blob.modified(), (a, b) -> a.isAfter(b) ? a : b);
      began.merge(name, blob.modified(), (a, b) -> a.isBefore(b) ? a : b);
    }
    Instant oldest = Instant.MAX;
    for (Map.Entry<String, Instant> sign : signs.entrySet()) {
      if (sign.getValue().plus(WriterLease.EXPIRY).isBefore(now)) {
        blobs.delete(sign.getKey() + WriterLease.BEGAN);
        blobs.delete(sign.getKey() + WriterLease.ALIVE);
      } else {
        Instant start = began.getOrDefault(sign.getKey(), Instant.MIN);
        oldest = start.isBefore(oldest) ? start : oldest;
      }
    }
    return oldest;
  }

  /** Returns the chunks of all manifests by data key. One that cannot be read is a problem. */
  private Map<String, ChunkNames> liveChunks(List<NamespaceKey> all) throws StoreException {
    Map<String, NamespaceKey> byId = new HashMap<>();
    all.forEach(key -> byId.put(key.id(), key));
    Map<String, ChunkNames> live = new HashMap<>();
    for (Blob blob : blobs.list(ChunkFormat.artifacts(namespaceUid))) {
      try {
        byte[] bytes = BlobReader.whole(blobs, blob.key(), RemoteManifest.MOST_BYTES);
        RemoteManifest.Header header = RemoteManifest.header(bytes);
        NamespaceKey key = byId.get(header.keyId());
        if (key == null) {
          problems.add("%s: expected the data key in the store, got none".formatted(blob.key()));
          continue;
        }
        ArtifactId id = new ArtifactId(namespaceUid, header.artifactUid());
        ChunkNames names = live.computeIfAbsent(key.id(), n -> new ChunkNames());
        for (ChunkRecord chunk : RemoteManifest.open(bytes, id, key).chunks()) {
          if (chunk.name() != null) {
            names.add(chunk.name());
          }
        }
      } catch (StoreException.NotFound e) {
        LOG.log(Level.DEBUG, "Artifact was deleted in the meantime: key=" + blob.key());
      } catch (StoreException.Damaged
          | StoreException.Newer
          | StoreException.Foreign
          | StoreException.WrongKey
          | IllegalArgumentException e) {
        problems.add("%s: %s".formatted(blob.key(), e.getMessage()));
      }
    }
    return live;
  }

  private void collect(
      NamespaceKey key,
      ChunkNames live,
      Map<String, Instant> condemned,
      Instant oldestWriter,
      Instant now,
      Set<String> read)
      throws IOException {
    NamespacePacks packs = new NamespacePacks(blobs, namespaceUid, key, threads, pool);
    Map<String, Blob> sizes = new ConcurrentHashMap<>();
    Map<String, Integer> livePercent = new ConcurrentHashMap<>();
    Map<String, List<ChunkRecord>> leaving = new ConcurrentHashMap<>();
    packs.read(
        packs.all(),
        (pack, chunks) -> {
          String name = NamespacePacks.fileName(pack);
          sizes.put(name, pack);
          livePercent.put(name, livePercent(chunks, live));
          if (condemned.containsKey(name)) {
            leaving.put(name, used(chunks, live));
          }
        });
    read.addAll(sizes.keySet());
    for (Map.Entry<String, Integer> share : livePercent.entrySet()) {
      Blob pack = sizes.get(share.getKey());
      if (pack != null
          && !condemned.containsKey(share.getKey())
          && share.getValue() < MIN_LIVE_PERCENT
          && pack.modified().plus(MIN_AGE).isBefore(now)) {
        packs.condemn(share.getKey());
        condemnedNow++;
        LOG.log(Level.INFO, "Pack marked for deletion: pack=" + pack.key());
      }
    }
    leaving
        .keySet()
        .removeIf(
            name -> {
              Instant since = condemned.getOrDefault(name, Instant.MAX);
              boolean early =
                  !since.isBefore(now.minus(GRACE)) || oldestWriter.isBefore(since.plus(GRACE));
              waiting += early ? 1 : 0;
              return early;
            });
    if (!leaving.isEmpty()) {
      delete(packs, sizes, leaving, condemned.keySet());
    }
  }

  private void delete(
      NamespacePacks packs,
      Map<String, Blob> sizes,
      Map<String, List<ChunkRecord>> leaving,
      Set<String> condemned)
      throws IOException {
    Set<ChunkName> wanted = new HashSet<>();
    leaving.values().forEach(chunks -> chunks.forEach(chunk -> wanted.add(name(chunk))));
    Map<ChunkName, List<Place>> copies = Map.of();
    if (!wanted.isEmpty()) {
      // Listed again: writers that began after the mark have stored some of them once more.
      Set<String> marked = new TreeSet<>(packs.condemned());
      marked.addAll(condemned);
      copies =
          packs.places(
              packs.all().stream()
                  .filter(pack -> !marked.contains(NamespacePacks.fileName(pack)))
                  .toList(),
              wanted);
    }
    ChunkMover mover = new ChunkMover(blobs, packs, compression, writers.get(), copies);
    Set<String> kept = mover.move(leaving);
    movedBytes.addAndGet(mover.movedBytes());
    for (String name : leaving.keySet()) {
      Blob pack = sizes.get(name);
      if (kept.contains(name) || pack == null) {
        problems.add("%s: expected intact chunks to move, got damaged ones".formatted(name));
        continue;
      }
      blobs.delete(pack.key());
      blobs.delete(ChunkFormat.condemned(namespaceUid) + name);
      deleted++;
      freedBytes += pack.size();
      LOG.log(Level.INFO, "Pack deleted: pack=" + pack.key());
    }
  }

  /** Packs that no data key reads stay; returns how many packs there are. */
  private int reportUnread(Set<String> read) throws StoreException {
    List<Blob> all = blobs.list(ChunkFormat.packs(namespaceUid));
    for (Blob pack : all) {
      if (!read.contains(NamespacePacks.fileName(pack))) {
        LOG.log(Level.WARNING, "Pack without a readable index is kept: pack=" + pack.key());
      }
    }
    return all.size();
  }

  private static ChunkName name(ChunkRecord chunk) {
    ChunkName name = chunk.name();
    if (name == null) {
      throw new IllegalArgumentException("a pack never contains chunks of zeros");
    }
    return name;
  }

  private static List<ChunkRecord> used(List<ChunkRecord> chunks, ChunkNames live) {
    return chunks.stream().filter(chunk -> live.contains(name(chunk))).toList();
  }

  private static int livePercent(List<ChunkRecord> chunks, ChunkNames live) {
    long used = 0;
    long bytes = 0;
    for (ChunkRecord chunk : chunks) {
      Place place = chunk.place();
      if (place != null) {
        bytes += place.stored();
        used += live.contains(name(chunk)) ? place.stored() : 0;
      }
    }
    return bytes == 0 ? 0 : (int) (100 * used / bytes);
  }
}
