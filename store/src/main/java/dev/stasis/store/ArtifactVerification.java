package dev.stasis.store;

import dev.stasis.artifact.Progress;
import dev.stasis.store.VerifyReport.Damage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;

/** Reads all chunks of an artifact, and the indexes of their packs, without keeping them. */
final class ArtifactVerification {
  private static final int MOST_DAMAGES = 1000;

  private final ArtifactId id;
  private final RemoteManifest manifest;
  private final NamespacePacks packs;
  private final ChunkReader reader;
  private final Progress progress;
  private final TreeChunks chunks;
  private final List<Damage> damages = new ArrayList<>();
  private final Set<String> damagedPacks = new ConcurrentSkipListSet<>();
  private final AtomicLong done = new AtomicLong();
  private final AtomicLong read = new AtomicLong();
  private final AtomicLong readBytes = new AtomicLong();

  ArtifactVerification(
      ArtifactId id,
      RemoteManifest manifest,
      BlobStore blobs,
      NamespacePacks packs,
      Progress progress) {
    this.id = id;
    this.manifest = manifest;
    this.packs = packs;
    this.reader = new ChunkReader(blobs, packs, manifest.chunks());
    this.progress = progress;
    this.chunks = new TreeChunks(manifest.tree());
  }

  VerifyReport run() throws IOException {
    new ChunkWorkers(packs.threads()).run(chunks.count(), Verifier::new);
    Set<String> named = manifest.packs();
    List<Blob> used =
        packs.all().stream().filter(pack -> named.contains(NamespacePacks.fileName(pack))).toList();
    Set<String> present = new TreeSet<>();
    used.forEach(pack -> present.add(NamespacePacks.fileName(pack)));
    Set<String> indexed = new ConcurrentSkipListSet<>();
    packs.read(used, (pack, records) -> indexed.add(NamespacePacks.fileName(pack)));
    for (String pack : present) {
      if (!indexed.contains(pack)) {
        damage(pack, "index: expected the written bytes, got different ones");
        damagedPacks.add(pack);
      }
    }
    damagedPacks.retainAll(present);
    for (String pack : damagedPacks) {
      packs.condemn(pack);
    }
    return new VerifyReport(id, read.get(), readBytes.get(), List.copyOf(damages));
  }

  /** Reads chunks with buffers of its own. */
  private final class Verifier implements ChunkWorkers.Worker {
    private final ChunkReader.Buffers buffers = reader.buffers();

    @Override
    public void run(int number) throws IOException {
      verify(number, buffers);
    }

    @Override
    public void close() {
      buffers.release();
    }
  }

  private void verify(int number, ChunkReader.Buffers buffers) throws IOException {
    ChunkRecord record = manifest.chunks().get(number);
    if (record.name() != null && record.place() != null) {
      try {
        var unused = reader.readAt(record.name(), record.place(), record.plain(), buffers);
      } catch (StoreException.Damaged | StoreException.NotFound e) {
        damagedPacks.add(record.place().pack().fileName());
        verifyCopies(number, record, e, buffers);
      }
      read.incrementAndGet();
      readBytes.addAndGet(record.place().stored());
    }
    progress.at(done.addAndGet(record.plain()), chunks.bytes());
  }

  /** A chunk with a whole copy elsewhere is no damage of the artifact. */
  private void verifyCopies(
      int number, ChunkRecord record, StoreException first, ChunkReader.Buffers buffers)
      throws IOException {
    if (record.name() == null || record.place() == null) {
      return;
    }
    try {
      var unused = reader.read(record.name(), record.place(), record.plain(), buffers);
    } catch (StoreException.Damaged | StoreException.NotFound e) {
      damage(
          "chunk %d of %s".formatted(chunks.numberInFile(number), chunks.path(number)),
          String.valueOf(first.getMessage()));
    }
  }

  private synchronized void damage(String where, String cause) {
    if (damages.size() < MOST_DAMAGES) {
      damages.add(new Damage(where, cause));
    }
  }
}
