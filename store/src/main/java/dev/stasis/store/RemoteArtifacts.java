package dev.stasis.store;

import dev.stasis.artifact.Progress;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The artifacts of a store beyond the node: stored as chunks, each once per namespace, and fetched
 * into folders. An artifact is in the store once {@link #store} has returned, and not before. For
 * several threads, and for several agents, at once.
 */
public final class RemoteArtifacts implements AutoCloseable {
  private static final Logger LOG = System.getLogger(RemoteArtifacts.class.getName());
  private static final String MANIFEST = ".manifest";

  /** Written by the agent that measured the store, so that not every agent does. */
  private static final String MEASURED = "measured";

  /** Written by the agent that swept the store. */
  private static final String SWEPT = "swept";

  private final BlobStore direct;
  private final BlobStore blobs;
  private final NamespaceKeys keys;
  private final Compression compression;
  private final Clock clock;
  private final int threads;
  private final BufferPool pool;
  private final SecureRandom random = new SecureRandom();

  /** How long a call is repeated while the server is gone: a restart of it, or a failover. */
  public static final Duration PATIENCE = Duration.ofMinutes(5);

  /**
   * @param blobs closed with this
   * @param threads how many chunks are worked on at a time, 1 to 16; each takes up to 6 MiB
   */
  public RemoteArtifacts(
      BlobStore blobs, StoreKeys keys, Compression compression, Clock clock, int threads) {
    this(blobs, keys, compression, clock, threads, PATIENCE);
  }

  /**
   * As above.
   *
   * @param patience how long one call is repeated while the server is gone
   */
  public RemoteArtifacts(
      BlobStore blobs,
      StoreKeys keys,
      Compression compression,
      Clock clock,
      int threads,
      Duration patience) {
    this(blobs, keys, compression, clock, threads, patience, new BufferPool());
  }

  /**
   * As above.
   *
   * @param pool may be shared with other stores
   */
  public RemoteArtifacts(
      BlobStore blobs,
      StoreKeys keys,
      Compression compression,
      Clock clock,
      int threads,
      Duration patience,
      BufferPool pool) {
    this.direct = blobs;
    this.blobs = new RetryingBlobs(blobs, patience, System::nanoTime);
    this.keys = new NamespaceKeys(this.blobs, keys, random);
    this.compression = compression;
    this.clock = clock;
    this.threads = new ChunkWorkers(threads).threads();
    this.pool = pool;
  }

  /**
   * Writes, reads and deletes a blob, so that wrong settings and credentials show before the first
   * artifact does. Nothing is repeated.
   */
  public void probe() throws StoreException {
    String key = "probe/" + newWriter();
    byte[] bytes = ChunkFormat.ascii(key);
    direct.put(key, bytes);
    byte[] actual = direct.get(key, 0, bytes.length);
    direct.delete(key);
    if (!Arrays.equals(bytes, actual)) {
      throw new StoreException.Damaged(
          "%s: expected the written content, got different content".formatted(key));
    }
  }

  /**
   * Stores the artifact in a folder, which must not change meanwhile. Storing one that is stored
   * already changes nothing, so that an upload can be repeated after a crash; chunks that reached
   * the store before are not written again.
   *
   * @param progress hears of the artifact's bytes that are through
   * @throws StoreException when the store fails, with the cause
   * @throws IOException when the folder cannot be read
   */
  public StoredArtifact store(ArtifactId id, Path folder, Progress progress) throws IOException {
    try {
      return inspect(id);
    } catch (StoreException.NotFound e) {
      NamespaceKey key = keys.orNew(id.namespaceUid());
      String writer = newWriter();
      try (WriterLease lease =
          WriterLease.begin(blobs, direct, id.namespaceUid(), writer, System::nanoTime)) {
        return new ArtifactUpload(
                blobs, packs(id, key), compression, clock, id, folder, progress, writer)
            .run(lease);
      }
    }
  }

  /** Returns the facts of an artifact after verifying its manifest; fails with NotFound. */
  public StoredArtifact inspect(ArtifactId id) throws StoreException {
    return open(id, null).summary();
  }

  /**
   * Fetches an artifact into an empty folder: each chunk is verified before it is written. After a
   * failure the folder holds a part of it and has to be deleted. Nothing is synced.
   *
   * @param sha256 the digest that its manifest must have, where it is known
   * @throws StoreException.Damaged when a chunk is not as it was written; names file and chunk
   */
  public StoredArtifact fetch(
      ArtifactId id, @Nullable String sha256, Path emptyFolder, Progress progress)
      throws IOException {
    return fetch(id, sha256, emptyFolder, Long.MAX_VALUE, progress);
  }

  /**
   * As above.
   *
   * @param room how many bytes may be written
   * @throws StoreException.Full before anything is written, if that is not enough
   */
  public StoredArtifact fetch(
      ArtifactId id, @Nullable String sha256, Path emptyFolder, long room, Progress progress)
      throws IOException {
    Opened opened = open(id, sha256);
    long bytes = opened.manifest.writtenBytes();
    if (bytes > room) {
      throw new StoreException.Full(
          "artifact %s: expected room for %d bytes in %s, got %d"
              .formatted(id, bytes, emptyFolder, room),
          null);
    }
    new ArtifactDownload(
            id,
            opened.manifest,
            new ChunkReader(blobs, opened.packs, opened.manifest.chunks()),
            threads,
            emptyFolder,
            progress)
        .run();
    return opened.summary();
  }

  /** Deletes an artifact, if it exists. A garbage collection frees its chunks later. */
  public void delete(ArtifactId id) throws StoreException {
    blobs.delete(ChunkFormat.manifest(id));
  }

  /**
   * Returns what the manifests of a namespace say of themselves, unverified: for showing. A
   * manifest that cannot be read is left out.
   */
  public List<StoredArtifact> list(String namespaceUid) throws StoreException {
    List<StoredArtifact> artifacts = new ArrayList<>();
    for (Blob blob : blobs.list(ChunkFormat.artifacts(namespaceUid))) {
      if (blob.key().endsWith(MANIFEST) && blob.size() <= RemoteManifest.MOST_BYTES) {
        try {
          byte[] bytes = blobs.get(blob.key(), 0, (int) blob.size());
          artifacts.add(
              RemoteManifest.summary(RemoteManifest.header(bytes), RemoteManifest.sha256(bytes)));
        } catch (StoreException.Damaged | StoreException.Newer | StoreException.NotFound e) {
          LOG.log(Level.WARNING, "Manifest skipped: key=" + blob.key(), e);
        }
      }
    }
    return artifacts;
  }

  /** Returns the UIDs of all namespaces that have something in the store. */
  public List<String> namespaces() throws StoreException {
    TreeSet<String> namespaces = new TreeSet<>();
    for (Blob blob : blobs.list("ns/")) {
      namespaces.add(blob.key().split("/", 3)[1]);
    }
    return List.copyOf(namespaces);
  }

  /** Returns when an agent last measured the store, by its clock; empty if none has. */
  public Optional<Instant> lastMeasured() throws StoreException {
    return lastWritten(MEASURED);
  }

  /** Returns when an agent last recorded a sweep, by the store's clock; empty if none has. */
  public Optional<Instant> lastSwept() throws StoreException {
    return lastWritten(SWEPT);
  }

  /** Records that every namespace was rewrapped and collected. */
  public void recordSweep() throws StoreException {
    blobs.put(SWEPT, new byte[0]);
  }

  private Optional<Instant> lastWritten(String key) throws StoreException {
    try {
      return Optional.of(blobs.stat(key).modified());
    } catch (StoreException.NotFound e) {
      return Optional.empty();
    }
  }

  /** Measures what each namespace takes. Reads the names and sizes of all blobs. */
  public MeasuredUsage measure() throws StoreException {
    Map<String, Long> bytes = new HashMap<>();
    for (Blob blob : blobs.list("ns/")) {
      bytes.merge(blob.key().split("/", 3)[1], blob.size(), Long::sum);
    }
    blobs.put(MEASURED, new byte[0]);
    return new MeasuredUsage(blobs.stat(MEASURED).modified(), bytes);
  }

  /** Makes the next agent that asks measure the store again. */
  public void forgetMeasurement() throws StoreException {
    blobs.delete(MEASURED);
  }

  /** Returns what a namespace takes. */
  public StoreUsage usage(String namespaceUid) throws StoreException {
    List<StoredArtifact> artifacts = list(namespaceUid);
    return new StoreUsage(
        artifacts.size(),
        artifacts.stream().mapToLong(StoredArtifact::logicalBytes).sum(),
        blobs.list(ChunkFormat.namespaceFolder(namespaceUid)).stream().mapToLong(Blob::size).sum());
  }

  /**
   * Reads every byte that an artifact consists of. Packs with damage are taken out of use, so that
   * the next upload of such a chunk stores it once more, which repairs the artifact.
   *
   * @throws StoreException when the manifest is damaged, or the store fails
   */
  public VerifyReport verify(ArtifactId id, Progress progress) throws IOException {
    Opened opened = open(id, null);
    return new ArtifactVerification(id, opened.manifest, blobs, opened.packs, progress).run();
  }

  /**
   * Frees what no artifact of a namespace uses any more, never younger than 24 hours: the first run
   * takes mostly unused packs out of use, a later one deletes them. May be run by several agents at
   * once, beside uploads, and be killed at any time.
   */
  public CollectReport collect(String namespaceUid) throws IOException {
    return new GarbageCollection(
            blobs, keys, namespaceUid, compression, threads, pool, this::newWriter)
        .run();
  }

  /**
   * Wraps the data key of a namespace by the current key alone, so that older keys can be removed.
   *
   * @return whether anything had to be changed
   */
  public boolean rewrap(String namespaceUid) throws StoreException {
    return keys.rewrap(namespaceUid);
  }

  @Override
  public void close() {
    blobs.close();
  }

  /** A manifest that was verified, and what its chunks are read with. */
  private record Opened(RemoteManifest manifest, String sha256, NamespacePacks packs) {
    StoredArtifact summary() throws StoreException {
      return RemoteManifest.summary(manifest.header(), sha256);
    }
  }

  private Opened open(ArtifactId id, @Nullable String sha256) throws StoreException {
    byte[] bytes;
    try {
      bytes = BlobReader.whole(blobs, ChunkFormat.manifest(id), RemoteManifest.MOST_BYTES);
    } catch (StoreException.NotFound e) {
      throw new StoreException.NotFound(
          "artifact %s: expected it in the store, got none with that name".formatted(id), e);
    }
    String actual = RemoteManifest.sha256(bytes);
    if (sha256 != null && !sha256.equals(actual)) {
      throw new StoreException.Foreign(
          "digest of artifact %s: expected %s, got %s".formatted(id, sha256, actual));
    }
    NamespaceKey key = key(id, RemoteManifest.header(bytes).keyId());
    return new Opened(RemoteManifest.open(bytes, id, key), actual, packs(id, key));
  }

  private NamespacePacks packs(ArtifactId id, NamespaceKey key) {
    return new NamespacePacks(blobs, id.namespaceUid(), key, threads, pool);
  }

  private NamespaceKey key(ArtifactId id, String keyId) throws StoreException {
    if (!ArtifactId.isValid(keyId)) {
      throw new StoreException.Damaged(
          "data key of artifact %s: expected its id, got \"%s\"".formatted(id, keyId));
    }
    try {
      return keys.existing(id.namespaceUid(), keyId);
    } catch (StoreException.NotFound e) {
      throw new StoreException.Damaged(
          "artifact %s: expected data key %s in the store, got no such file".formatted(id, keyId),
          e);
    }
  }

  private String newWriter() {
    byte[] writer = new byte[ChunkFormat.WRITER_BYTES];
    random.nextBytes(writer);
    return HexFormat.of().formatHex(writer);
  }
}
