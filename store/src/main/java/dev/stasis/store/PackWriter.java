package dev.stasis.store;

import dev.stasis.store.ChunkCodec.Packed;
import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.ChunkFormat.Place;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Seals chunks and appends them to packs. Threads of its own complete packs while further chunks
 * are appended, and write the parts of packs, unless a pack has one part at a time: then the thread
 * that filled the part writes it. Several packs are open at a time, because a file takes one write
 * at a time. What is in memory is bounded by the store's {@link UploadLimits}: a thread that
 * appends waits for a part to be written.
 */
final class PackWriter implements AutoCloseable {
  /** Stored bytes for each further open pack, so that few chunks do not become many packs. */
  private static final long BYTES_PER_OPEN_PACK = 32L << 20;

  private final NamespacePacks namespace;
  private final String writer;
  private final Sealer sealer;
  private final UploadLimits limits;
  private final AtomicLong nonces = new AtomicLong();
  private final AtomicLong appended = new AtomicLong();
  private final ExecutorService uploaders;

  // Guarded by this, as are the counters of packs.
  private final Deque<ByteBuffer> free = new ArrayDeque<>();
  private final Deque<Pack> idle = new ArrayDeque<>();
  private final Set<Pack> unfinished = new LinkedHashSet<>();
  private final Map<String, Long> written = new TreeMap<>();
  private @Nullable Exception failure;
  private int packs;
  private int open;
  private int allocated;

  PackWriter(NamespacePacks namespace, String writer) {
    this.namespace = namespace;
    this.writer = writer;
    this.sealer = namespace.key().sealer(writer);
    this.limits = namespace.blobs().uploadLimits();
    this.uploaders =
        Executors.newFixedThreadPool(
            limits.parts(),
            task -> {
              Thread thread = new Thread(task, "store-upload");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** A pack that is being written. One thread at a time appends to it. */
  private final class Pack {
    private final PackName name;
    private final BlobUpload upload;
    private final List<ChunkRecord> chunks = new ArrayList<>();
    private final Sealer.Workspace workspace = new Sealer.Workspace();
    private @Nullable ByteBuffer part;
    private long size;
    // Guarded by the writer.
    private int parts;
    private int uploaded;
    private boolean ended;

    Pack(PackName name) throws StoreException {
      this.name = name;
      this.upload = namespace.blobs().upload(name.key(namespace.namespaceUid()));
    }

    Place append(ChunkName chunk, int plain, Packed packed) throws IOException {
      long nonce = nextNonce();
      int stored = Sealer.sealedBytes(packed.length());
      Place place = new Place(name, size, stored, nonce, packed.codec());
      byte[] additional = ChunkFormat.chunkAdditional(chunk, packed.codec(), plain);
      sealer.seal(nonce, additional, packed.bytes(), packed.length(), workspace, this::write);
      chunks.add(new ChunkRecord(chunk, plain, place));
      appended.addAndGet(stored);
      return place;
    }

    boolean isFull() {
      return size >= ChunkFormat.PACK_BYTES || chunks.size() >= ChunkFormat.PACK_CHUNKS;
    }

    void end() throws IOException {
      byte[] index = PackIndex.seal(namespace.key(), nextNonce(), name, chunks);
      write(index, index.length);
      flush();
      ended(this);
    }

    private void write(byte[] bytes, int length) throws StoreException, InterruptedIOException {
      for (int at = 0; at < length; ) {
        ByteBuffer filled = part;
        if (filled == null) {
          filled = freePart();
          part = filled;
        }
        int count = Math.min(filled.remaining(), length - at);
        filled.put(bytes, at, count);
        at += count;
        size += count;
        if (!filled.hasRemaining()) {
          flush();
        }
      }
    }

    private void flush() {
      ByteBuffer filled = part;
      if (filled != null) {
        part = null;
        int number = nextPart(this);
        ByteBuffer full = filled.flip();
        if (limits.onePartPerBlob()) {
          upload(this, number, full);
        } else {
          uploaders.execute(() -> upload(this, number, full));
        }
      }
    }
  }

  /** A nonce that nothing else of this writer has. */
  long nextNonce() {
    return nonces.getAndIncrement();
  }

  /** Appends a chunk; its place counts once {@link #finish} has returned. */
  Place append(ChunkName name, int plain, Packed packed) throws IOException {
    try {
      Pack pack = take();
      Place place = pack.append(name, plain, packed);
      if (pack.isFull()) {
        pack.end();
      } else {
        release(pack);
      }
      return place;
    } catch (IOException | RuntimeException e) {
      // The pack may have a part of the chunk now, and takes no other one.
      fail(e);
      throw e;
    }
  }

  /** Makes everything that was appended durable. Nothing is appended meanwhile or afterwards. */
  void finish() throws IOException {
    List<Pack> last;
    synchronized (this) {
      throwFailure();
      last = List.copyOf(idle);
      idle.clear();
    }
    for (Pack pack : last) {
      pack.end();
    }
    awaitAll();
  }

  private synchronized void awaitAll() throws StoreException, InterruptedIOException {
    while (!unfinished.isEmpty()) {
      throwFailure();
      await();
    }
    throwFailure();
  }

  /** Returns the packs that were finished, with their sizes. */
  synchronized Map<String, Long> written() {
    return Map.copyOf(written);
  }

  /** Returns an open pack that no other thread appends to, the one that was used last. */
  private Pack take() throws StoreException, InterruptedIOException {
    PackName next;
    synchronized (this) {
      while (idle.isEmpty()
          && (open == limits.blobs() || open > appended.get() / BYTES_PER_OPEN_PACK)) {
        throwFailure();
        await();
      }
      throwFailure();
      if (!idle.isEmpty()) {
        return idle.pop();
      }
      open++;
      next = new PackName(writer, packs++);
    }
    Pack pack = new Pack(next);
    synchronized (this) {
      unfinished.add(pack);
    }
    return pack;
  }

  private synchronized void release(Pack pack) {
    idle.push(pack);
    notifyAll();
  }

  private synchronized int nextPart(Pack pack) {
    return pack.parts++;
  }

  private synchronized void ended(Pack pack) {
    pack.ended = true;
    open--;
    notifyAll();
    commitIfWritten(pack);
  }

  private synchronized void uploaded(Pack pack, ByteBuffer part) {
    free.push(part.clear());
    pack.uploaded++;
    notifyAll();
    commitIfWritten(pack);
  }

  private synchronized void committed(Pack pack) {
    written.put(pack.name.fileName(), pack.size);
    unfinished.remove(pack);
    notifyAll();
  }

  /** True once for each pack: after its end, or after its last part, whichever is later. */
  private void commitIfWritten(Pack pack) {
    if (pack.ended && pack.uploaded == pack.parts && failure == null) {
      int parts = pack.parts;
      uploaders.execute(() -> commit(pack, parts));
    }
  }

  private void upload(Pack pack, int number, ByteBuffer part) {
    try {
      pack.upload.part(number, part);
    } catch (StoreException | RuntimeException e) {
      fail(e);
    } finally {
      uploaded(pack, part);
    }
  }

  private void commit(Pack pack, int parts) {
    try {
      pack.upload.commit(parts, pack.size);
      committed(pack);
    } catch (StoreException | RuntimeException e) {
      fail(e);
    }
  }

  private synchronized ByteBuffer freePart() throws StoreException, InterruptedIOException {
    while (free.isEmpty() && allocated == limits.parts()) {
      throwFailure();
      await();
    }
    if (!free.isEmpty()) {
      return free.pop();
    }
    allocated++;
    byte[] array = namespace.pool().take(limits.partBytes());
    return ByteBuffer.wrap(array, 0, limits.partBytes()).slice();
  }

  /** Waits for a part, a pack or a failure; called with the lock held. */
  private void await() throws InterruptedIOException {
    try {
      wait();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while writing to a store");
    }
  }

  private synchronized void fail(Exception e) {
    if (failure == null) {
      failure = e;
    }
    notifyAll();
  }

  private void throwFailure() throws StoreException {
    Exception first = failure;
    if (first instanceof StoreException known) {
      throw known;
    }
    if (first != null) {
      throw new StoreException.Refused("upload: " + first, first);
    }
  }

  /** Drops the packs that were not finished. */
  @Override
  public void close() throws StoreException {
    // No pack is completed any more.
    fail(new StoreException.Refused("the upload was closed", null));
    stop();
    List<Pack> left;
    synchronized (this) {
      left = List.copyOf(unfinished);
      unfinished.clear();
      // Not those that a thread may still read, if it did not end.
      free.forEach(part -> namespace.pool().give(part.array()));
      free.clear();
    }
    StoreException first = null;
    for (Pack pack : left) {
      try {
        pack.upload.abort();
      } catch (StoreException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /** A part that is written after its pack was dropped would begin the pack again. */
  private void stop() {
    uploaders.shutdownNow();
    boolean interrupted = Thread.interrupted();
    try {
      // An interrupted channel ends at once, and a call to a server at its own deadline of 60 s.
      // What is written after that is removed as an unfinished upload.
      var unused = uploaders.awaitTermination(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
