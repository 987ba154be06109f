package dev.stasis.agent.stream;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The blocks to send. Each stream takes the next block from one queue when it is free; the blocks
 * of a broken stream return to the queue. Files can be added, and can grow, during the transfer.
 */
public final class SendQueue implements AutoCloseable {

  /**
   * Large enough to make the cost of a frame header and an acknowledgement negligible, small enough
   * to distribute.
   */
  static final int BLOCK = 4 << 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Block> waiting = new ArrayDeque<>();
  private final Map<Long, Block> inFlight = new HashMap<>();
  private final SortedMap<String, Long> sizes = new TreeMap<>();
  private final Map<String, Long> queued = new HashMap<>();
  private long next;
  private long totalBytes;
  private long doneBytes;
  private @Nullable SentFolder folder;
  private boolean complete;
  private boolean closed;
  private @Nullable String failure;

  /**
   * Sets the folder with the files, which may be renamed from now on. Only the first call has an
   * effect.
   *
   * @throws IOException if it cannot be opened
   */
  public void from(Path path) throws IOException {
    lock.lock();
    try {
      if (folder == null && !closed) {
        folder = new SentFolder(path);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * The first bytes of a file are final, but not the whole file; the last part may have to wait for
   * the rest, unless it is all that the file has yet.
   *
   * @param name its path below the folder, the same at both ends
   */
  public void grow(String name, long bytes) {
    lock.lock();
    try {
      requireOpen(name);
      queue(name, bytes < BLOCK ? bytes : bytes / BLOCK * BLOCK);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * A file is complete and final. Repeating the call has no effect.
   *
   * @param name its path below the folder, the same at both ends
   */
  public void add(String name, long size) {
    lock.lock();
    try {
      requireOpen(name);
      Long before = sizes.putIfAbsent(name, size);
      if (before != null && before != size || queued.getOrDefault(name, 0L) > size) {
        throw new IllegalStateException(
            "file %s: expected %d bytes as announced before, got %d"
                .formatted(name, before == null ? queued.get(name) : before, size));
      }
      queue(name, size);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void requireOpen(String name) {
    if (complete && !sizes.containsKey(name)) {
      throw new IllegalStateException("file " + name + ": expected before the end of the transfer");
    }
  }

  private void queue(String name, long upTo) {
    long from = queued.getOrDefault(name, 0L);
    for (long offset = from; offset < upTo; offset += BLOCK) {
      waiting.add(new Block(next++, name, offset, (int) Math.min(BLOCK, upTo - offset)));
    }
    if (upTo > from) {
      queued.put(name, upTo);
      totalBytes += upTo - from;
    }
  }

  /** Opens a file of the folder, for one of its blocks. */
  FileChannel open(String name) throws IOException {
    SentFolder from;
    lock.lock();
    try {
      from = folder;
    } finally {
      lock.unlock();
    }
    if (from == null) {
      throw new IOException("the transfer has no folder, or has ended");
    }
    return from.open(name);
  }

  /** No more files will be added. */
  public void complete() {
    lock.lock();
    try {
      complete = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Fails the transfer: every stream stops, and waiting callers get the reason. */
  public void fail(String why) {
    lock.lock();
    try {
      if (failure == null) {
        failure = why;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the next block, waiting if there is none yet; empty if everything is acknowledged. */
  Optional<Block> take() throws InterruptedException, IOException {
    lock.lock();
    try {
      while (waiting.isEmpty() && !(complete && inFlight.isEmpty())) {
        checkFailure();
        changed.await();
      }
      checkFailure();
      Block block = waiting.poll();
      if (block != null) {
        inFlight.put(block.number(), block);
      }
      return Optional.ofNullable(block);
    } finally {
      lock.unlock();
    }
  }

  /** The receiver has written the block, or it need not be sent. */
  void done(long number) {
    lock.lock();
    try {
      Block block = inFlight.remove(number);
      if (block != null) {
        doneBytes += block.length();
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The stream broke before the block was acknowledged: another stream sends it. */
  void giveBack(Iterable<Block> blocks) {
    lock.lock();
    try {
      for (Block block : blocks) {
        if (inFlight.remove(block.number()) != null) {
          waiting.addFirst(block);
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until everything is acknowledged. */
  boolean awaitAll(Duration atMost) throws InterruptedException, IOException {
    long left = atMost.toNanos();
    lock.lock();
    try {
      while (!(complete && waiting.isEmpty() && inFlight.isEmpty())) {
        checkFailure();
        if (left <= 0) {
          return false;
        }
        left = changed.awaitNanos(left);
      }
      checkFailure();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void checkFailure() throws IOException {
    if (failure != null) {
      throw new IOException(failure);
    }
  }

  /** Returns name and size of every file. */
  SortedMap<String, Long> sizes() {
    lock.lock();
    try {
      return new TreeMap<>(sizes);
    } finally {
      lock.unlock();
    }
  }

  /** Bytes that the receiver has, and the total; 0 while more may be added. */
  public long[] progress() {
    lock.lock();
    try {
      return new long[] {doneBytes, complete ? totalBytes : 0};
    } finally {
      lock.unlock();
    }
  }

  /** Waits between two attempts of a broken stream; the end of the transfer interrupts it. */
  void pause(Duration pause) throws InterruptedException, IOException {
    long left = TimeUnit.NANOSECONDS.convert(pause);
    lock.lock();
    try {
      while (left > 0
          && failure == null
          && !(complete && waiting.isEmpty() && inFlight.isEmpty())) {
        left = changed.awaitNanos(left);
      }
      checkFailure();
    } finally {
      lock.unlock();
    }
  }

  /** Releases the folder; nothing can be sent after that. */
  @Override
  public void close() throws IOException {
    lock.lock();
    try {
      closed = true;
      SentFolder open = folder;
      folder = null;
      if (open != null) {
        open.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
