package dev.stasis.agent.stream;

import java.io.IOException;
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
 * What is to be sent: blocks that streams take from one queue, whichever is free first, and that
 * come back when their stream breaks. Files can be added while others are on their way.
 */
public final class Outbound {

  /**
   * Large enough that a frame's head and an acknowledgement cost nothing, small enough to share.
   */
  static final int BLOCK = 4 << 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Block> waiting = new ArrayDeque<>();
  private final Map<Long, Block> inFlight = new HashMap<>();
  private final SortedMap<String, Long> sizes = new TreeMap<>();
  private long next;
  private long totalBytes;
  private long doneBytes;
  private boolean complete;
  private @Nullable String failure;

  /**
   * Adds a file, whole and final.
   *
   * @param name where it belongs below the artifact's folder
   */
  public void add(Path file, String name, long size) {
    lock.lock();
    try {
      if (complete || sizes.putIfAbsent(name, size) != null) {
        throw new IllegalStateException("file " + name + ": wanted once, and before the end");
      }
      for (long offset = 0; offset < size; offset += BLOCK) {
        waiting.add(new Block(next++, file, name, offset, (int) Math.min(BLOCK, size - offset)));
      }
      totalBytes += size;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Nothing more will be added. */
  public void complete() {
    lock.lock();
    try {
      complete = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends it: every stream stops, and whoever waits is told why. */
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

  /** The next block; empty when everything is acknowledged. Waits while there is none. */
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

  /** The receiver has written it, or it needs not be sent. */
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

  /** Its stream broke before it was acknowledged: another one takes it. */
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

  /** Name and size of every file. */
  SortedMap<String, Long> sizes() {
    lock.lock();
    try {
      return new TreeMap<>(sizes);
    } finally {
      lock.unlock();
    }
  }

  /** Bytes that the receiver has, and bytes that are known so far. */
  public long[] progress() {
    lock.lock();
    try {
      return new long[] {doneBytes, totalBytes};
    } finally {
      lock.unlock();
    }
  }

  /** A pause between two tries of a broken stream, cut short by the end. */
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
}
