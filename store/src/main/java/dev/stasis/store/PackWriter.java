package dev.stasis.store;

import dev.stasis.store.ChunkFormat.PackName;
import dev.stasis.store.ChunkFormat.Place;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Appends sealed chunks to packs, which it uploads in parts by threads of its own. It holds at most
 * eight parts in memory; who appends waits for one of them.
 */
final class PackWriter implements AutoCloseable {
  /** Parts of 8 MiB in memory, and threads that upload them. */
  private static final int PARTS = 8;

  private final BlobStore blobs;
  private final String namespaceUid;
  private final String writer;
  private final NamespaceKey key;
  private final AtomicLong nonces = new AtomicLong();
  private final ExecutorService uploaders;
  private final BlockingQueue<ByteBuffer> free = new ArrayBlockingQueue<>(PARTS);
  private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
  private final Map<String, Long> written = new TreeMap<>();

  /**
   * Held while a chunk is appended or a pack finished. Both wait for parts to be uploaded, and give
   * the lock of this object away meanwhile: another chunk must not get in between.
   */
  private final ReentrantLock turn = new ReentrantLock();

  private @Nullable Pack pack;
  private int packs;
  private int allocated;

  PackWriter(BlobStore blobs, String namespaceUid, String writer, NamespaceKey key) {
    this.blobs = blobs;
    this.namespaceUid = namespaceUid;
    this.writer = writer;
    this.key = key;
    this.uploaders =
        Executors.newFixedThreadPool(
            PARTS,
            task -> {
              Thread thread = new Thread(task, "store-upload");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** A pack that is being written. Guarded by the writer. */
  private final class Pack {
    final PackName name = new PackName(writer, packs++);
    final BlobUpload upload;
    final List<ChunkRecord> chunks = new ArrayList<>();
    ByteBuffer buffer;
    int parts;
    int uploaded;
    long size;

    Pack() throws StoreException, InterruptedIOException {
      upload = blobs.upload(name.key(namespaceUid));
      buffer = buffer();
    }

    void write(byte[] bytes, int length) throws StoreException, InterruptedIOException {
      for (int at = 0; at < length; ) {
        if (!buffer.hasRemaining()) {
          flush();
          buffer = buffer();
        }
        int count = Math.min(buffer.remaining(), length - at);
        buffer.put(bytes, at, count);
        at += count;
        size += count;
      }
    }

    void flush() {
      ByteBuffer part = buffer.flip();
      int number = parts++;
      uploaders.execute(() -> upload(this, number, part));
    }
  }

  /** A nonce that nothing else of this writer has. */
  long nextNonce() {
    return nonces.getAndIncrement();
  }

  /** Appends a sealed chunk; its place counts once {@link #finish} has returned. */
  Place append(ChunkName name, int plain, byte codec, long nonce, byte[] sealed, int length)
      throws StoreException, InterruptedIOException {
    turn.lock();
    try {
      return appendInTurn(name, plain, codec, nonce, sealed, length);
    } finally {
      turn.unlock();
    }
  }

  private synchronized Place appendInTurn(
      ChunkName name, int plain, byte codec, long nonce, byte[] sealed, int length)
      throws StoreException, InterruptedIOException {
    throwFailure();
    if (pack != null
        && (pack.size >= ChunkFormat.PACK_BYTES || pack.chunks.size() >= ChunkFormat.PACK_CHUNKS)) {
      finishInTurn();
    }
    if (pack == null) {
      pack = new Pack();
    }
    Place place = new Place(pack.name, pack.size, length, nonce, codec);
    pack.write(sealed, length);
    pack.chunks.add(new ChunkRecord(name, plain, place));
    return place;
  }

  /** Makes everything that was appended durable. */
  void finish() throws StoreException, InterruptedIOException {
    turn.lock();
    try {
      finishInTurn();
    } finally {
      turn.unlock();
    }
  }

  private synchronized void finishInTurn() throws StoreException, InterruptedIOException {
    Pack ending = pack;
    if (ending == null) {
      return;
    }
    byte[] index = PackIndex.seal(key, nextNonce(), ending.name, ending.chunks);
    ending.write(index, index.length);
    ending.flush();
    while (ending.uploaded < ending.parts && failure.get() == null) {
      await();
    }
    throwFailure();
    ending.upload.commit(ending.parts, ending.size);
    written.put(ending.name.fileName(), ending.size);
    pack = null;
  }

  /** Returns the packs that were finished, with their sizes. */
  synchronized Map<String, Long> written() {
    return Map.copyOf(written);
  }

  private void upload(Pack of, int number, ByteBuffer part) {
    try {
      of.upload.part(number, part);
    } catch (StoreException | RuntimeException e) {
      failure.compareAndSet(null, e);
    } finally {
      free.add(part.clear());
      synchronized (this) {
        of.uploaded++;
        notifyAll();
      }
    }
  }

  private ByteBuffer buffer() throws StoreException, InterruptedIOException {
    ByteBuffer buffer = free.poll();
    if (buffer == null && allocated < PARTS) {
      allocated++;
      return ByteBuffer.allocate(RemoteArtifacts.PART_BYTES);
    }
    while (buffer == null) {
      throwFailure();
      await();
      buffer = free.poll();
    }
    return buffer;
  }

  /** Waits for a part to be through; called with the lock held, which a part's end needs, too. */
  private void await() throws InterruptedIOException {
    try {
      wait();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while writing to a store");
    }
  }

  private void throwFailure() throws StoreException {
    Exception first = failure.get();
    if (first instanceof StoreException known) {
      throw known;
    }
    if (first != null) {
      throw new StoreException.Refused("upload: " + first, first);
    }
  }

  /** Drops the pack that was not finished. */
  @Override
  public void close() throws StoreException {
    uploaders.shutdownNow();
    Pack unfinished;
    synchronized (this) {
      unfinished = pack;
      pack = null;
    }
    if (unfinished != null) {
      unfinished.upload.abort();
    }
  }
}
