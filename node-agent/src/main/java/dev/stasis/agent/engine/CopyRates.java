package dev.stasis.agent.engine;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** How fast memory was copied in the last operations that copied enough to tell. */
public final class CopyRates {

  /** Starting a call takes tenths of a second, in which this is copied: more than it is worth. */
  private static final long ENOUGH = 1L << 30;

  /** Who copied, and where to. */
  public enum Copy {
    /** The driver, from the GPU to the host. */
    GPU_CHECKPOINT,
    /** The driver, from the host to the GPU. */
    GPU_RESTORE,
    /** The mover, from a process to the stage. */
    MOVE_OUT
  }

  private final Map<Copy, Long> rates = new ConcurrentHashMap<>();

  /** Notes a copy that was whole. */
  void note(Copy copy, long bytes, long nanos) {
    if (bytes >= ENOUGH && nanos > 0) {
      rates.put(copy, (long) ((double) bytes * TimeUnit.SECONDS.toNanos(1) / nanos));
    }
  }

  /** Returns the rate in bytes per second; empty before the first such copy. */
  public Optional<Long> bytesPerSecond(Copy copy) {
    return Optional.ofNullable(rates.get(copy));
  }
}
