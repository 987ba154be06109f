package dev.stasis.store;

import dev.stasis.artifact.Progress;
import dev.stasis.store.ChunkFormat.Place;
import dev.stasis.store.RemoteManifest.Header;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** One upload of an artifact: its chunks, then its manifest. */
final class ArtifactUpload {
  /** Known chunks that are held in memory, about 60 MiB; further ones are stored once more. */
  private static final int MOST_KNOWN = 400_000;

  private final BlobStore blobs;
  private final NamespacePacks packs;
  private final Compression compression;
  private final Clock clock;
  private final ArtifactId id;
  private final Path folder;
  private final Progress progress;
  private final String writer;
  private final Map<ChunkName, Slot> slots = new ConcurrentHashMap<>();
  private final AtomicLong done = new AtomicLong();

  ArtifactUpload(
      BlobStore blobs,
      NamespacePacks packs,
      Compression compression,
      Clock clock,
      ArtifactId id,
      Path folder,
      Progress progress,
      String writer) {
    this.blobs = blobs;
    this.packs = packs;
    this.compression = compression;
    this.clock = clock;
    this.id = id;
    this.folder = folder;
    this.progress = progress;
    this.writer = writer;
  }

  /** Where a chunk is or will be; the first thread that meets a chunk writes it. */
  private static final class Slot {
    volatile @Nullable Place place;

    Slot(@Nullable Place place) {
      this.place = place;
    }
  }

  StoredArtifact run(WriterLease lease) throws IOException {
    FileTree tree = FileTree.of(folder);
    TreeChunks chunks = new TreeChunks(tree);
    loadKnown();
    @Nullable ChunkName[] names = new ChunkName[chunks.count()];
    Sealer sealer = packs.key().sealer(writer);
    Map<String, Long> written;
    long nonce;
    try (PackWriter target = new PackWriter(packs, writer)) {
      new ChunkWorkers(blobs.uploadLimits().fillingThreads(packs.threads()))
          .run(chunks.count(), () -> new Reader(chunks, names, target));
      target.finish();
      written = target.written();
      nonce = target.nextNonce();
    }
    List<ChunkRecord> records = records(chunks, names);
    RemoteManifest manifest = new RemoteManifest(header(tree, records, nonce), tree, records);
    byte[] bytes = manifest.seal(sealer);
    requirePacks(manifest, written);
    lease.require();
    String key = ChunkFormat.manifest(id);
    if (!blobs.putIfAbsent(key, bytes)
        && !Arrays.equals(bytes, BlobReader.whole(blobs, key, RemoteManifest.MOST_BYTES))) {
      throw new StoreException.Refused(
          "artifact %s: expected a new artifact, got one that another writer has stored"
              .formatted(id),
          null);
    }
    return RemoteManifest.summary(manifest.header(), RemoteManifest.sha256(bytes));
  }

  private void loadKnown() throws IOException {
    List<Blob> all = packs.all();
    // Listed last: a pack that is condemned later is kept for this writer's lease.
    Set<String> condemned = packs.condemned();
    List<Blob> usable = new ArrayList<>(all);
    usable.removeIf(pack -> condemned.contains(NamespacePacks.fileName(pack)));
    packs.read(
        usable,
        (pack, chunks) -> {
          for (ChunkRecord chunk : chunks) {
            if (slots.size() < MOST_KNOWN && chunk.name() != null) {
              slots.putIfAbsent(chunk.name(), new Slot(chunk.place()));
            }
          }
        });
  }

  private List<ChunkRecord> records(TreeChunks chunks, @Nullable ChunkName[] names) {
    List<ChunkRecord> records = new ArrayList<>(names.length);
    for (int i = 0; i < names.length; i++) {
      ChunkName name = names[i];
      Slot slot = name == null ? null : slots.get(name);
      records.add(
          slot == null
              ? ChunkRecord.zeros(chunks.length(i))
              : new ChunkRecord(name, chunks.length(i), slot.place));
    }
    return records;
  }

  private Header header(FileTree tree, List<ChunkRecord> records, long nonce) {
    long stored = 0;
    long added = 0;
    Set<ChunkName> counted = new HashSet<>();
    for (ChunkRecord record : records) {
      Place place = record.place();
      if (record.name() != null && place != null && counted.add(record.name())) {
        stored += place.stored();
        added += place.pack().writer().equals(writer) ? place.stored() : 0;
      }
    }
    return new Header(
        ChunkFormat.VERSION,
        id.namespaceUid(),
        id.artifactUid(),
        packs.key().id(),
        writer,
        nonce,
        clock.instant().toString(),
        tree.bytes(),
        stored,
        added,
        records.size());
  }

  /** Every pack that the manifest will name is there with its size. */
  private void requirePacks(RemoteManifest manifest, Map<String, Long> written)
      throws StoreException {
    Map<String, Long> sizes = new ConcurrentHashMap<>();
    packs.all().forEach(pack -> sizes.put(NamespacePacks.fileName(pack), pack.size()));
    for (String pack : manifest.packs()) {
      Long size = sizes.get(pack);
      Long expected = written.get(pack);
      if (size == null || (expected != null && !expected.equals(size))) {
        throw new StoreException.Damaged(
            "pack %s: expected %s bytes in the store, got %s"
                .formatted(pack, expected == null ? "some" : expected, size == null ? 0 : size));
      }
    }
  }

  /** Reads, names and compresses chunks. */
  private final class Reader implements ChunkWorkers.Worker {
    private final TreeChunks chunks;
    private final @Nullable ChunkName[] names;
    private final PackWriter target;
    private final NamespaceKey.Naming naming = packs.key().naming();
    private final ChunkCodec codec = new ChunkCodec(compression, packs.pool());
    private final byte[] plain = packs.pool().take(ChunkFormat.BUFFER_BYTES);
    private int openFile = -1;
    private @Nullable FileChannel channel;

    Reader(TreeChunks chunks, @Nullable ChunkName[] names, PackWriter target) {
      this.chunks = chunks;
      this.names = names;
      this.target = target;
    }

    @Override
    public void run(int number) throws IOException {
      int length = chunks.length(number);
      read(number, length);
      if (!ChunkCodec.zeros(plain, 0, length)) {
        ChunkName name = naming.name(plain, length);
        names[number] = name;
        Slot slot = new Slot(null);
        if (slots.putIfAbsent(name, slot) == null) {
          slot.place = target.append(name, length, codec.pack(plain, length));
        }
      }
      progress.at(done.addAndGet(length), chunks.bytes());
    }

    private void read(int number, int length) throws IOException {
      FileChannel file = channel(chunks.file(number));
      long offset = chunks.offset(number);
      for (int at = 0; at < length; ) {
        int slice = Math.min(FolderBlobs.SLICE, length - at);
        int count = file.read(ByteBuffer.wrap(plain, at, slice), offset + at);
        if (count < 0) {
          throw new EOFException(
              "%s: expected %d bytes at %d, got the end of the file"
                  .formatted(chunks.path(number), length, offset));
        }
        at += count;
      }
    }

    private FileChannel channel(int file) throws IOException {
      FileChannel open = channel;
      if (open == null || openFile != file) {
        closeFile();
        open =
            FileChannel.open(
                folder.resolve(chunks.tree().files().get(file).path()),
                Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        channel = open;
        openFile = file;
      }
      return open;
    }

    private void closeFile() throws IOException {
      if (channel != null) {
        channel.close();
      }
    }

    @Override
    public void close() throws IOException {
      codec.close();
      packs.pool().give(plain);
      closeFile();
    }
  }
}
