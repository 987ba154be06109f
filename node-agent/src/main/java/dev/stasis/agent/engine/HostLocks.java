package dev.stasis.agent.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Locks on the whole host, across agents: two agents run side by side during a rolling update. The
 * kernel releases them when their holder dies. One instance per process and state folder: the
 * kernel's record locks belong to the process, and closing any descriptor of the file would release
 * them, so this class never opens a file twice.
 */
public final class HostLocks {

  /** fcntl has no lock with a time limit; ten attempts a second cost nothing. */
  private static final Duration TRY_EVERY = Duration.ofMillis(100);

  private final Path folder;
  private final LongSupplier nanoTime;
  private final Set<String> heldHere = new HashSet<>();

  /**
   * Uses the locks below a state folder.
   *
   * @param stateDir the node's state folder
   * @param nanoTime a monotonic clock, in nanoseconds
   */
  public HostLocks(Path stateDir, LongSupplier nanoTime) {
    this.folder = stateDir.resolve("locks");
    this.nanoTime = nanoTime;
  }

  /** A held lock. */
  public final class Held implements AutoCloseable {
    private final String name;
    private final FileChannel channel;

    private Held(String name, FileChannel channel) {
      this.name = name;
      this.channel = channel;
    }

    @Override
    public void close() {
      synchronized (heldHere) {
        if (heldHere.remove(name)) {
          closeQuietly(channel);
        }
      }
    }
  }

  /**
   * Takes a lock; empty if it is held already. The file is kept: removing it would let two
   * processes hold it.
   */
  public Optional<Held> tryTake(String name) {
    synchronized (heldHere) {
      if (heldHere.contains(name)) {
        return Optional.empty();
      }
      FileChannel channel = open(folder.resolve(name + ".lock"));
      try {
        FileLock lock = channel.tryLock();
        if (lock != null) {
          heldHere.add(name);
          return Optional.of(new Held(name, channel));
        }
      } catch (IOException e) {
        closeQuietly(channel);
        throw new UncheckedIOException("cannot lock " + name, e);
      }
      closeQuietly(channel);
      return Optional.empty();
    }
  }

  /** Takes a lock, waiting for it at most {@code limit}. */
  public Optional<Held> take(String name, Duration limit) throws InterruptedException {
    long until = nanoTime.getAsLong() + limit.toNanos();
    Optional<Held> held = tryTake(name);
    while (held.isEmpty() && nanoTime.getAsLong() < until) {
      LockSupport.parkNanos(TRY_EVERY.toNanos());
      if (Thread.interrupted()) {
        throw new InterruptedException("waiting for the lock " + name);
      }
      held = tryTake(name);
    }
    return held;
  }

  private static FileChannel open(Path file) {
    try {
      Files.createDirectories(file.getParent());
      return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open the lock " + file, e);
    }
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close a lock", e);
    }
  }
}
